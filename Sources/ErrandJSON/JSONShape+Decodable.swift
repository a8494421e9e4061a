extension JSONShape {
    /// The shape that a type demands of the JSON it is decoded from.
    ///
    /// For example:
    ///
    ///     static let shape = try? JSONShape(of: User.self)
    ///     override var validator: JSONShape? { Self.shape }
    ///
    /// The type's own `init(from:)` is run once with a decoder that hands out stand-ins and notes what it is asked for. For
    /// types whose conformance the compiler wrote that is exact: keys that are demanded are demanded and not null,
    /// optional ones may be missing or null, keys that the type does not know are ignored, enums with raw values allow
    /// theirs. Keep the shape in a `static let`.
    ///
    /// For an `init(from:)` written by hand it is only as true as the one run: what stands behind a condition may be
    /// missed, what is tried with `try?` counts as demanded.
    ///
    /// - Parameter decoder: The strategies with which the type will be decoded: they decide about keys, dates and data.
    ///   What only a `custom` strategy knows passes as any value.
    /// - Throws: ``JSONShapeDerivationError`` for a type that cannot be asked like this: one that refuses the stand-ins,
    ///   has cases with associated values, or keys that the strategy cannot lead back.
    public init<T: Decodable>(
        of type: T.Type, decoder: FastJSONDecoder = FastJSONDecoder()
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

/// Why a type's shape cannot be had by asking it.
public struct JSONShapeDerivationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where in the type, such as `$.users[].role`.
    public var path: String
    /// What is in the way, and what to do.
    public var reason: String

    /// Makes an error.
    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    /// Place and reason in a sentence.
    public var description: String { "\(path): \(reason)" }
}
