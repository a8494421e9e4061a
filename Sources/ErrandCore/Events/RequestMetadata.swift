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

/// Values that users attach to a request, by typed keys and by names; its task and its events have them, too.
///
///     request.metadata["screen"] = "profile"
public struct RequestMetadata: Sendable {
    private enum AnyKey: Hashable {
        case type(ObjectIdentifier)
        case name(String)
    }
    private var values: [AnyKey: any Sendable] = [:]

    /// Creates metadata without values.
    public init() {}

    /// Whether there are no values.
    public var isEmpty: Bool { values.isEmpty }

    /// The value of a key; `nil`, the default, if there is none.
    public subscript<Name: Key>(_ key: Name.Type) -> Name.Value? {
        get { values[.type(ObjectIdentifier(key))] as? Name.Value }
        set { values[.type(ObjectIdentifier(key))] = newValue }
    }

    /// The value of a name; `nil`, the default, if there is none.
    public subscript(_ name: String) -> (any Sendable)? {
        get { values[.name(name)] }
        set { values[.name(name)] = newValue }
    }

    /// Adds the values whose keys have none.
    package mutating func add(_ other: RequestMetadata) {
        values.merge(other.values) { own, _ in own }
    }
}
