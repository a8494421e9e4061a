/// What all encoders of one value share.
final class EncodingSession {
    @exclusivity(unchecked) private(set) var userInfo: [CodingUserInfoKey: any Sendable]
    let escapesSlashes: Bool
    @exclusivity(unchecked) private(set) var floats: DecodingSession.FloatTexts?
    @exclusivity(unchecked) private(set) var foundation: FoundationEncoding
    /// From a key of a type, with its path, to the key in the text; nil: as it is.
    let convertKey: (([any CodingKey]) -> String)?
    /// Set when a container was written to after its time, so that the text cannot be trusted.
    @exclusivity(unchecked) var isOutOfTurn = false
    /// Where the outermost value is written.
    let stream = EncodingStream(capacity: 1024)
    /// How many encoders there are, by which is seen whether one was kept.
    @exclusivity(unchecked) var encoderCount = 0

    typealias Records = TypeRecords<any StreamCollection.Type, StreamEncoder>
    /// The types met so far.
    @exclusivity(unchecked) private var records = Records()
    /// The keys written so far, by their types, and their texts.
    @exclusivity(unchecked)
    var keyTables: [(type: ObjectIdentifier, table: UnsafeMutablePointer<KnownKey>)] = []
    let keyTexts = ByteSink(capacity: 1024)
    /// Which of the values written one after another this is; keys written for an earlier one are
    /// checked before they are copied.
    @exclusivity(unchecked) private(set) var turn: UInt16 = 1

    private static let spares = SpareSessions<EncodingSession>()
    private static let slashEscapingSpares = SpareSessions<EncodingSession>()

    private init(options: FastJSONEncoder) {
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

    // MARK: - One value after another

    /// A session for one value, to be finished after it: one that is done, if there is one.
    static func begin(_ options: FastJSONEncoder) -> EncodingSession {
        guard options.keyConversion == nil, let session = spares(options.escapesSlashes).take()
        else { return EncodingSession(options: options) }
        session.userInfo = options.userInfo
        session.floats = options.floatTexts
        session.foundation = options.foundation
        return session
    }

    private static func spares(_ escapesSlashes: Bool) -> SpareSessions<EncodingSession> {
        escapesSlashes ? slashEscapingSpares : spares
    }

    /// Makes the session ready for another value, or frees the spare encoders, which hold it.
    func finish() {
        if !rest() || !EncodingSession.spares(escapesSlashes).put(self) { records.dropSpares() }
    }

    /// Forgets the value; false if somebody has kept an encoder, or if the session has grown large.
    private func rest() -> Bool {
        let main = stream
        let spareCount = records.keepSpares { $0.stream === main && $0.rest() }
        guard convertKey == nil, spareCount == encoderCount, !isOutOfTurn, stream.rest(),
            keyTexts.count < 65536, turn < .max
        else { return false }
        turn &+= 1
        if !userInfo.isEmpty { userInfo = [:] }
        floats = nil
        foundation = .standard
        return true
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
