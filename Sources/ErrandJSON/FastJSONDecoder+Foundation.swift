public import Foundation

/// Decodes `Decodable` types from JSON: `JSONDecoder`'s strategies and errors at several times its
/// speed.
///
/// It is a value; set it up once and use it from anywhere. For example:
///
///     var decoder = FastJSONDecoder()
///     decoder.keyDecodingStrategy = .convertFromSnakeCase
///     let user = try decoder.decode(User.self, from: data)
///
/// It differs from `JSONDecoder` in this:
/// - Documents must be UTF-8. JSON5 is not read, and there is no `assumesTopLevelDictionary`; nor
///   are types decoded that need a configuration.
/// - The whole document must be valid, also strings that the type does not ask for.
/// - Numbers too small for `Double` are 0, where `JSONDecoder` refuses the document.
/// - Integers are exact however they are written, also those beyond 64 bits that have an exponent.
/// - The error for a number that does not fit, or for a date that is none, has a coding path; the
///   words of errors are others.
/// - The first fault in a dictionary is the first in the document, not in any order.
/// - `[1,]` and `{"a":1,}`, which Foundation accepts, are no JSON.
public struct FastJSONDecoder: Sendable {
    /// How dates are written; `.deferredToDate` (seconds since 2001) by default.
    public typealias DateDecodingStrategy = JSONDecoder.DateDecodingStrategy
    /// How `Data` is written; `.base64` by default.
    public typealias DataDecodingStrategy = JSONDecoder.DataDecodingStrategy
    /// Whether strings stand for numbers that are not finite; `.throw` by default.
    public typealias NonConformingFloatDecodingStrategy =
        JSONDecoder.NonConformingFloatDecodingStrategy
    /// How keys are written; `.useDefaultKeys` by default.
    public typealias KeyDecodingStrategy = JSONDecoder.KeyDecodingStrategy

    /// How dates are written.
    public var dateDecodingStrategy: DateDecodingStrategy = .deferredToDate
    /// How `Data` is written.
    public var dataDecodingStrategy: DataDecodingStrategy = .base64
    /// Whether strings stand for numbers that are not finite.
    public var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy = .throw
    /// How keys are written.
    public var keyDecodingStrategy: KeyDecodingStrategy = .useDefaultKeys
    /// What types find in `Decoder.userInfo`; empty by default.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// Limits for parsing; values nested deeper than `maximumDepth` are not decoded either.
    public var options = JSON.Options()

    /// Makes a decoder with the defaults of `JSONDecoder`.
    public init() {}

    /// Decodes a document.
    ///
    /// - Throws: `DecodingError`; `dataCorrupted` with a `JSONError` inside if it is not JSON.
    public func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        try decode(type, from: data.withUnsafeBytes { JSON.attempt($0, options) })
    }

    /// Decodes a document held in an array of bytes.
    ///
    /// - Throws: `DecodingError`; `dataCorrupted` with a `JSONError` inside if it is not JSON.
    public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        try decode(type, from: bytes.withUnsafeBytes { JSON.attempt($0, options) })
    }

    /// Decodes a value that has been parsed already.
    ///
    /// - Throws: `DecodingError`; for an absent value `valueNotFound`.
    public func decode<T: Decodable>(_ type: T.Type, from json: JSON) throws -> T {
        guard json.exists else {
            throw DecodingError.valueNotFound(
                type, .init(codingPath: [], debugDescription: "There is no value to decode."))
        }
        let session = DecodingSession.begin(json.tape, self)
        defer { session.finish() }
        return try session.decode(type, at: json.index)
    }

    private func decode<T: Decodable>(
        _ type: T.Type, from result: Result<JSON, JSONError>
    ) throws -> T {
        switch result {
        case .success(let json): return try decode(type, from: json)
        case .failure(let error):
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: [], debugDescription: "The given data was not valid JSON.",
                    underlyingError: error))
        }
    }
}

extension FastJSONDecoder {
    var foundation: FoundationDecoding {
        FoundationDecoding(dateStrategy: dateDecodingStrategy, dataStrategy: dataDecodingStrategy)
    }

    var floatTexts: DecodingSession.FloatTexts? {
        guard
            case .convertFromString(let positive, let negative, let nan) =
                nonConformingFloatDecodingStrategy
        else { return nil }
        return .init(positive: positive, negative: negative, nan: nan)
    }

    var keyConversion: (([any CodingKey], String) -> String)? {
        switch keyDecodingStrategy {
        case .useDefaultKeys: nil
        case .convertFromSnakeCase: { _, key in SnakeCase.camelCase(key) }
        case .custom(let convert):
            { path, key in convert(path + [PlainKey(key)]).stringValue }
        @unknown default: nil
        }
    }
}

/// Between `fooBar` and `foo_bar`, by the rules of `JSONDecoder` and `JSONEncoder`.
enum SnakeCase {
    /// `foo_bar` as `fooBar`; underscores at either end stay.
    static func camelCase(_ key: String) -> String {
        guard let first = key.firstIndex(where: { $0 != "_" }),
            let last = key.lastIndex(where: { $0 != "_" })
        else { return key }
        let words = key[first...last].split(separator: "_")
        let joined =
            words.count == 1
            ? String(key[first...last])
            : words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
        return key[..<first] + joined + key[key.index(after: last)...]
    }

    /// `fooBar` as `foo_bar`; a run of capitals is one word: `myURLKey` becomes `my_url_key`.
    static func snakeCase(_ key: String) -> String {
        guard !key.isEmpty else { return key }
        var words: [Range<String.Index>] = []
        var start = key.startIndex
        var search = key.index(after: start)..<key.endIndex
        while let upper = key[search].rangeOfCharacter(from: .uppercaseLetters) {
            words.append(start..<upper.lowerBound)
            search = upper.lowerBound..<search.upperBound
            guard let lower = key[search].rangeOfCharacter(from: .lowercaseLetters) else {
                start = search.lowerBound
                break
            }
            let next = key.index(after: upper.lowerBound)
            if lower.lowerBound == next {
                start = upper.lowerBound
            } else {
                // The last of several capitals begins the next word.
                let before = key.index(before: lower.lowerBound)
                words.append(upper.lowerBound..<before)
                start = before
            }
            search = lower.upperBound..<search.upperBound
        }
        words.append(start..<search.upperBound)
        return words.map { key[$0].lowercased() }.joined(separator: "_")
    }
}

/// Decodes the types of Foundation that have a strategy, or another form than their own.
struct FoundationDecoding {
    let dateStrategy: JSONDecoder.DateDecodingStrategy
    let dataStrategy: JSONDecoder.DataDecodingStrategy

    static var standard: FoundationDecoding {
        FoundationDecoding(dateStrategy: .deferredToDate, dataStrategy: .base64)
    }

    /// Whether a type is one of these.
    @inline(__always)
    func handles<T>(_ type: T.Type) -> Bool {
        type == Date.self || type == URL.self || type == Data.self || type == Decimal.self
    }

    /// Decodes a value of one of these types.
    @inline(never)
    func decode<T: Decodable>(_ type: T.Type, _ decoder: TapeDecoder) throws -> T {
        if decoder.decodeNil() {
            throw decoder.session.mismatch(type, at: decoder.index, decoder.codingPath)
        }
        let value: Any
        if type == Date.self {
            value = try date(decoder)
        } else if type == URL.self {
            value = try url(decoder)
        } else if type == Data.self {
            value = try data(decoder)
        } else {
            value = try decimal(decoder)
        }
        if let value = value as? T { return value }
        return try T(from: decoder)
    }

    private func corrupted(_ decoder: TapeDecoder, _ words: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: words))
    }

    private func date(_ decoder: TapeDecoder) throws -> Date {
        switch dateStrategy {
        case .deferredToDate: return try Date(from: decoder)
        case .secondsSince1970: return Date(timeIntervalSince1970: try decoder.decode(Double.self))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try decoder.decode(Double.self) / 1000)
        case .iso8601:
            let text = try decoder.decode(String.self)
            guard let date = ISO8601Text.date(text) else {
                throw corrupted(decoder, "Expected date string to be ISO8601-formatted.")
            }
            return date
        // NB: elsewhere `.formatted` is a function that makes a `.custom`.
        #if canImport(Darwin)
            case .formatted(let formatter):
                guard let date = formatter.date(from: try decoder.decode(String.self)) else {
                    throw corrupted(decoder, "Date string does not match the formatter's format.")
                }
                return date
        #endif
        case .custom(let convert): return try convert(decoder)
        @unknown default: return try Date(from: decoder)
        }
    }

    private func data(_ decoder: TapeDecoder) throws -> Data {
        switch dataStrategy {
        case .deferredToData: return try Data(from: decoder)
        case .base64:
            guard let data = Data(base64Encoded: try decoder.decode(String.self)) else {
                throw corrupted(decoder, "Encountered Data is not valid Base64.")
            }
            return data
        case .custom(let convert): return try convert(decoder)
        @unknown default: return try Data(from: decoder)
        }
    }

    private func url(_ decoder: TapeDecoder) throws -> URL {
        guard let url = URL(string: try decoder.decode(String.self)) else {
            throw corrupted(decoder, "Invalid URL string.")
        }
        return url
    }

    private func decimal(_ decoder: TapeDecoder) throws -> Decimal {
        let tape = decoder.session.tape
        let kind = tape.kind(at: decoder.index)
        guard kind == .integer || kind == .real else {
            throw decoder.session.mismatch(Decimal.self, at: decoder.index, decoder.codingPath)
        }
        let text = String(decoding: tape.text(at: decoder.index), as: UTF8.self)
        guard let value = Decimal(string: text), !value.isNaN else {
            throw corrupted(decoder, "The number does not fit in Decimal.")
        }
        return value
    }
}

/// Dates as `JSONDecoder` and `JSONEncoder` write them: whole seconds, in UTC.
enum ISO8601Text {
    static func date(_ text: String) -> Date? { try? Date.ISO8601FormatStyle().parse(text) }
    static func text(_ date: Date) -> String { Date.ISO8601FormatStyle().format(date) }
}
