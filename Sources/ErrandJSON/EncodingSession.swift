/// What all encoders of one value share.
final class EncodingSession {
    let userInfo: [CodingUserInfoKey: any Sendable]
    let escapesSlashes: Bool
    let floats: DecodingSession.FloatTexts?
    let foundation: FoundationEncoding
    /// From a key of a type, with its path, to the key in the text; nil: as it is.
    let convertKey: (([any CodingKey]) -> String)?
    /// Set when a container was written to after its time, so that the text cannot be trusted.
    var isOutOfTurn = false

    init(options: FastJSONEncoder) {
        userInfo = options.userInfo
        escapesSlashes = options.escapesSlashes
        floats = options.floatTexts
        foundation = options.foundation
        convertKey = options.keyConversion
    }

    @inline(__always)
    func write(_ value: String, to sink: ByteSink) {
        sink.write(string: value, escapesSlashes: escapesSlashes)
    }

    @inline(__always)
    func write(_ value: Bool, to sink: ByteSink) {
        if value { sink.write("true") } else { sink.write("false") }
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
        write(
            value.isNaN ? floats.nan : value < 0 ? floats.negative : floats.positive, to: sink)
    }
}
