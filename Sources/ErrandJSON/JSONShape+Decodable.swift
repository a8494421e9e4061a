extension JSONShape {
    /// Derives the shape of the JSON that a type can be decoded from.
    ///
    /// For example:
    ///
    ///     static let shape = try? JSONShape(of: User.self)
    ///     override var validator: JSONShape? { Self.shape }
    ///
    /// The initializer runs the type's `init(from:)` once with a decoder that returns placeholder
    /// values and records which keys and types are requested. For conformances synthesized by the
    /// compiler the result is exact:
    /// - Required keys must be present and not null.
    /// - Optional keys may be missing or null.
    /// - Keys that the type does not decode are ignored.
    /// - Enums with raw values accept only those values.
    ///
    /// For a hand-written `init(from:)` the result describes that one run: keys decoded under a
    /// condition may be missing from the shape, and keys decoded with `try?` are required by it.
    ///
    /// The derivation takes time; keep the shape in a `static let`.
    ///
    /// - Parameter decoder: The decoder that will decode the type. Its strategies determine the
    ///   shape of keys, dates and data; values decoded by a `custom` strategy may have any shape.
    /// - Throws: ``JSONShapeDerivationError`` for types that reject the placeholder values, enums
    ///   with associated values, and keys that the strategy cannot convert back.
    public init<T: Decodable>(
        of type: T.Type, decoder: JSONReader = JSONReader()
    ) throws(JSONShapeDerivationError) {
        let node = ShapeNode()
        let session = ShapeProbe(options: decoder)
        do {
            _ = try session.standIn(for: type, node, path: [])
        } catch let error as JSONShapeDerivationError {
            throw error
        } catch {
            throw ShapeProbe.refusal(of: type, [])
        }
        self = node.shape
    }
}

extension JSONShape {
    /// An error from deriving a shape from a type.
    public struct DerivationError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The location in the type, such as `$.users[].role`.
        public var path: String
        /// The reason, and what to do about it.
        public var reason: String

        /// Creates an error.
        public init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }

        /// The path and the reason in one sentence.
        public var description: String { "\(path): \(reason)" }
    }
}

/// An error from deriving a shape from a type.
public typealias JSONShapeDerivationError = JSONShape.DerivationError
