/// What all encoders of one value share.
final class EncodingSession {
    let userInfo: [CodingUserInfoKey: any Sendable]
    let escapesSlashes: Bool
    let floats: DecodingSession.FloatTexts?
    let foundation: FoundationEncoding
    /// From a key of a type, with its path, to the key in the text; nil: as it is.
    let convertKey: (([any CodingKey]) -> String)?
    /// Set when a container was written to after its time, so that the text cannot be trusted.
    @exclusivity(unchecked) var isOutOfTurn = false

    /// Which of the types met so far are collections.
    @exclusivity(unchecked)
    var knownTypes: [(type: ObjectIdentifier, collection: (any StreamCollection.Type)?)] = []

    init(options: FastJSONEncoder) {
        userInfo = options.userInfo
        escapesSlashes = options.escapesSlashes
        floats = options.floatTexts
        foundation = options.foundation
        convertKey = options.keyConversion
    }

    @inline(__always)
    func write<T: BinaryFloatingPoint & LosslessStringConvertible>(
        floating value: T, to sink: ByteSink, _ path: () -> [any CodingKey]
    ) throws {
        if sink.write(floating: value) { return }
        guard let floats else {
            throw EncodingError.invalidValue(
                value,
                .init(
                    codingPath: path(),
                    debugDescription: "Unable to encode \(T.self).\(value) directly in JSON."))
        }
        sink.write(
            string: value.isNaN ? floats.nan : value < 0 ? floats.negative : floats.positive,
            escapesSlashes: escapesSlashes)
    }
}
