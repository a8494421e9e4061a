// Performance annotations: decision 17.

/// State shared by all encoders of one top-level value.
final class EncodingSession {
    private(set) var userInfo: [CodingUserInfoKey: any Sendable]
    let escapesSlashes: Bool
    private(set) var floats: DecodingSession.FloatTexts?
    private(set) var foundation: FoundationEncoding
    /// Converts a key of a type, given its path, to the key in the text; nil keeps all keys.
    let convertKey: (([any CodingKey]) -> String)?
    /// Set when a value was written out of order, so that the text is not valid.
    @exclusivity(unchecked) var isOutOfTurn = false
    /// The stream of the top-level value.
    let stream = EncodingStream(capacity: 1024)
    /// The number of live encoders; an encoder that user code has kept makes it larger than
    /// expected.
    var encoderCount = 0

    typealias Records = TypeRecords<any StreamCollection.Type, StreamEncoder>
    /// The types encoded so far.
    @exclusivity(unchecked) private var records = Records()
    /// The keys written so far, one table for each key type.
    var keyTables: [(type: ObjectIdentifier, table: UnsafeMutablePointer<KnownKey>)] = []
    let keyTexts = ByteSink(capacity: 1024)
    /// The generation of the current top-level value.
    ///
    /// The text of a key from an earlier generation is compared before it is reused.
    private(set) var turn: UInt16 = 1

    private static let spares = CodingSessionPool<EncodingSession>()
    private static let slashEscapingSpares = CodingSessionPool<EncodingSession>()

    private init(options: JSONWriter) {
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

    /// The record of a type; created on first use.
    @inline(__always)
    func record<T>(of type: T.Type) -> Records.Record {
        records.find(type) ?? records.add(type, isFoundations: foundation.handles(type))
    }

    /// Whether the keys of the type are data, such as dictionary keys, and are not converted.
    func keepsKeys<T>(of type: T.Type) -> Bool {
        convertKey != nil && type is any StringKeyed.Type
    }

    // MARK: - Reuse for the next value

    /// Returns a session for one top-level value: a reused one if available, else a new one.
    ///
    /// Call `finish` after encoding.
    static func begin(_ options: JSONWriter) -> EncodingSession {
        guard options.keyConversion == nil, let session = spares(options.escapesSlashes).take()
        else { return EncodingSession(options: options) }
        session.userInfo = options.userInfo
        session.floats = options.floatTexts
        session.foundation = options.foundation
        return session
    }

    private static func spares(_ escapesSlashes: Bool) -> CodingSessionPool<EncodingSession> {
        escapesSlashes ? slashEscapingSpares : spares
    }

    /// Returns the session to the pool for the next value.
    ///
    /// If that is not possible, it releases the spare encoders, which hold the session.
    func finish() {
        if !rest() || !EncodingSession.spares(escapesSlashes).put(self) { records.dropSpares() }
    }

    /// Releases the value and the options.
    ///
    /// Returns false if user code has kept an encoder, or if the session's buffers have grown
    /// large.
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
                    debugDescription: "\(T.self).\(value) cannot be encoded in JSON."))
        }
        sink.write(
            string: value.isNaN ? floats.nan : value < 0 ? floats.negative : floats.positive,
            escapesSlashes: escapesSlashes)
    }
}

/// Dictionaries with string keys; no strategy converts them.
protocol StringKeyed {}
extension Dictionary: StringKeyed where Key == String {}
