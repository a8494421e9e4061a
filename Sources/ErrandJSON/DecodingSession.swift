// Performance annotations: decision 17.

/// State shared by all decoders of one document.
final class DecodingSession {
    private(set) var tape: Tape
    private(set) var userInfo: [CodingUserInfoKey: any Sendable]
    private(set) var floats: FloatTexts?
    private(set) var foundation: FoundationDecoding
    private(set) var maximumDepth: Int
    /// Converts a key of the document, given its path, to the key of the type; nil keeps all keys.
    let convertKey: (([any CodingKey], String) -> String)?

    /// The strings that represent infinities and NaN.
    struct FloatTexts {
        var positive: String
        var negative: String
        var nan: String
    }

    typealias Records = TypeRecords<any TapeCollection.Type, TapeDecoder>
    /// The types decoded so far.
    @exclusivity(unchecked) private var records = Records()
    /// The number of live decoders; a decoder that user code has kept makes it larger than
    /// expected.
    var decoderCount = 0

    private static let spares = CodingSessionPool<DecodingSession>()

    private init(tape: Tape, options: JSONReader) {
        self.tape = tape
        userInfo = options.userInfo
        floats = options.floatTexts
        foundation = options.foundation
        maximumDepth = options.options.maximumDepth
        convertKey = options.keyConversion
    }

    deinit { records.destroy() }

    /// The record of a type; created on first use.
    @inline(__always)
    func record<T>(of type: T.Type) -> Records.Record {
        records.find(type) ?? records.add(type, isFoundations: foundation.handles(type))
    }

    // MARK: - Reuse for the next document

    /// Returns a session for one document: a reused one if available, else a new one.
    ///
    /// Call `finish` after decoding.
    static func begin(_ tape: Tape, _ options: JSONReader) -> DecodingSession {
        guard options.keyConversion == nil, let session = spares.take() else {
            return DecodingSession(tape: tape, options: options)
        }
        session.tape = tape
        session.userInfo = options.userInfo
        session.floats = options.floatTexts
        session.foundation = options.foundation
        session.maximumDepth = options.options.maximumDepth
        _ = session.records.keepSpares {
            $0.read(tape)
            return true
        }
        return session
    }

    /// Returns the session to the pool for the next document.
    ///
    /// If that is not possible, it releases the spare decoders, which hold the session.
    func finish() {
        if !rest() || !DecodingSession.spares.put(self) { records.dropSpares() }
    }

    /// Releases the document and the options; false if user code has kept a decoder.
    private func rest() -> Bool {
        let spareCount = records.keepSpares {
            $0.rest()
            return true
        }
        guard convertKey == nil, spareCount == decoderCount else { return false }
        tape = .absent
        if !userInfo.isEmpty { userInfo = [:] }
        floats = nil
        foundation = .standard
        return true
    }

    // MARK: - Scalars

    /// The coding path of a value, computed only for errors.
    typealias Path = () -> [any CodingKey]

    func bool(at index: Int, _ path: Path) throws -> Bool {
        switch tape.kind(at: index) {
        case .true: true
        case .false: false
        default: throw mismatch(Bool.self, at: index, path())
        }
    }

    func string(at index: Int, _ path: Path) throws -> String {
        let kind = tape.words[index] >> 60
        guard kind == Word.Kind.string.rawValue || kind == Word.Kind.escaped.rawValue else {
            throw mismatch(String.self, at: index, path())
        }
        return tape.string(at: index)
    }

    @inline(__always)
    func integer<T: FixedWidthInteger>(_ type: T.Type, at index: Int, _ path: Path) throws -> T {
        let value: T?
        switch tape.kind(at: index) {
        case .integer: value = NumberText.integer(tape.text(at: index), as: type)
        case .real: value = NumberText.integral(tape.text(at: index), as: type)
        default: throw mismatch(type, at: index, path())
        }
        guard let value else { throw unrepresentable(type, at: index, path()) }
        return value
    }

    @inline(__always)
    func double(at index: Int, _ path: Path) throws -> Double {
        switch tape.kind(at: index) {
        case .integer, .real:
            guard let value = NumberText.double(tape.text(at: index)) else {
                throw unrepresentable(Double.self, at: index, path())
            }
            return value
        default:
            return try Double(nonConformingFloat(Double.self, at: index, path()))
        }
    }

    func float(at index: Int, _ path: Path) throws -> Float {
        switch tape.kind(at: index) {
        case .integer, .real:
            guard let value = NumberText.float(tape.text(at: index)) else {
                throw unrepresentable(Float.self, at: index, path())
            }
            return value
        default:
            return try Float(nonConformingFloat(Float.self, at: index, path()))
        }
    }

    /// Decodes an infinity or NaN according to `nonConformingFloatDecodingStrategy`.
    private func nonConformingFloat<T>(
        _ type: T.Type, at index: Int, _ path: @autoclosure () -> [any CodingKey]
    ) throws -> Double {
        let kind = tape.kind(at: index)
        if let floats, kind == .string || kind == .escaped {
            switch tape.string(at: index) {
            case floats.positive: return .infinity
            case floats.negative: return -.infinity
            case floats.nan: return .nan
            default: break
            }
        }
        throw mismatch(type, at: index, path())
    }

    // MARK: - Errors

    func mismatch<T>(_ type: T.Type, at index: Int, _ path: [any CodingKey]) -> DecodingError {
        let found = JSON(tape: tape, index: index).kindInWords
        let context = DecodingError.Context(
            codingPath: path, debugDescription: "Expected \(type), but found \(found) instead.")
        // As in Foundation, `Bool` from null is a type mismatch, unlike all other types.
        return tape.kind(at: index) == .null && type != Bool.self
            ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    private func unrepresentable<T>(_ type: T.Type, at index: Int, _ path: [any CodingKey])
        -> DecodingError
    {
        .dataCorrupted(
            .init(
                codingPath: path,
                debugDescription: "The number cannot be represented as \(type)."))
    }
}

/// A coding key for an array index, or for a name without a key type.
///
/// It fits into the inline storage of `any CodingKey`, and an index has no text until it is read.
enum PlainKey: CodingKey {
    case name(String)
    case index(Int)

    init(_ stringValue: String) { self = .name(stringValue) }
    init(index: Int) { self = .index(index) }
    init?(stringValue: String) { self = .name(stringValue) }
    init?(intValue: Int) { self = .index(intValue) }

    var stringValue: String {
        switch self {
        case .name(let name): name
        case .index(let index): "Index \(index)"
        }
    }

    var intValue: Int? {
        if case .index(let index) = self { index } else { nil }
    }
}
