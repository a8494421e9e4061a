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

    typealias Records = TypeRecords<any StreamCollection.Type, StreamEncoder>
    /// The types met so far.
    @exclusivity(unchecked) private var records = Records()
    /// The keys written so far, by their types, and their texts.
    @exclusivity(unchecked)
    var keyTables: [(type: ObjectIdentifier, table: UnsafeMutablePointer<KnownKey>)] = []
    let keyTexts = ByteSink(capacity: 1024)

    init(options: FastJSONEncoder) {
        userInfo = options.userInfo
        escapesSlashes = options.escapesSlashes
        floats = options.floatTexts
        foundation = options.foundation
        convertKey = options.keyConversion
    }

    deinit {
        records.destroy()
        keyTexts.destroy()
        for known in keyTables { known.table.deallocate() }
    }

    /// What is known about a type.
    @inline(__always)
    func record<T>(of type: T.Type) -> Records.Record {
        records.find(type) ?? records.add(type, isFoundations: foundation.handles(type))
    }

    /// Whether keys of a type's values are data, which no strategy converts.
    @inline(__always)
    func keepsKeys<T>(of type: T.Type) -> Bool {
        convertKey != nil && type is any StringKeyed.Type
    }

    /// Frees the spare encoders, which hold the session.
    func finish() { records.dropSpares() }

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
