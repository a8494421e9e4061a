import ErrandHTTP

extension RequestMetadata {
    /// The key of a typed value in ``RequestMetadata``.
    ///
    ///     enum ScreenKey: RequestMetadataKey { typealias Value = String }
    ///     request.metadata[ScreenKey.self] = "profile"
    public protocol Key: Sendable {
        /// The type of the value.
        associatedtype Value: Sendable
    }
}

/// The key of a typed value in ``RequestMetadata``.
public typealias RequestMetadataKey = RequestMetadata.Key

/// Typed values that users attach to a request; its task and its events have them, too.
public struct RequestMetadata: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// Creates metadata without values.
    public init() {}

    /// Whether there are no values.
    public var isEmpty: Bool { values.isEmpty }

    /// The value of a key; `nil`, the default, if there is none.
    public subscript<Name: Key>(_ key: Name.Type) -> Name.Value? {
        get { values[ObjectIdentifier(key)] as? Name.Value }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}
