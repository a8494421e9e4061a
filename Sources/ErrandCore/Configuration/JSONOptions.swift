public import ErrandJSON
public import ErrandSystem

/// How JSON is written and read: the strategies of both directions, and the place of the output.
///
///     request.json.path = ["data"]
///     configuration.json.keys = .snakeCase
///
/// In a request, `nil` uses the value of ``Configuration/json``. A decoder or encoder that is given to a call, such as
/// `HTTPBody.json(_:encoder:)` or ``Response/decode(_:decoder:)``, takes precedence.
public struct JSONOptions: Sendable {
    /// How keys map to names of types (default `.unchanged`).
    public var keys: Keys?
    /// The form of dates (default `.iso8601`).
    public var dates: Dates?
    /// The form of `Data` (default `.base64`).
    public var data: Bytes?
    /// The form of infinities and NaN (default `.refused`).
    public var floats: Floats?
    /// The keys that lead to the output of a typed endpoint: `["data"]` for `{"code": 0, "data": {…}}`.
    ///
    /// Default none, like an empty list: the output is the whole body. Check other members, such as a code, in
    /// ``RequestDescription/Acceptance/rules``. No effect on a download, nor on a decoder that is a closure of your own.
    public var path: [String]?
    /// Whether null members and items are removed from the JSON, at every level, after validation (default false).
    ///
    /// ``Response/data`` is not changed, nor is the file of a download.
    public var removesNulls: Bool?

    /// Creates the default options.
    public init() {}

    /// A strategy for each direction.
    public struct Form<Decoding: Sendable, Encoding: Sendable>: Sendable {
        /// For responses.
        public var decoding: Decoding
        /// For bodies and arguments.
        public var encoding: Encoding

        /// Creates a form.
        public init(decoding: Decoding, encoding: Encoding) {
            self.decoding = decoding
            self.encoding = encoding
        }
    }

    /// How keys map to names of types.
    public typealias Keys = Form<
        JSONReader.KeyDecodingStrategy, JSONWriter.KeyEncodingStrategy
    >
    /// The form of dates.
    public typealias Dates = Form<
        JSONReader.DateDecodingStrategy, JSONWriter.DateEncodingStrategy
    >
    /// The form of `Data`.
    public typealias Bytes = Form<
        JSONReader.DataDecodingStrategy, JSONWriter.DataEncodingStrategy
    >
    /// The form of infinities and NaN.
    public typealias Floats = Form<
        JSONReader.NonConformingFloatDecodingStrategy,
        JSONWriter.NonConformingFloatEncodingStrategy
    >
}

extension JSONOptions.Keys {
    /// The names of the types.
    public static var unchanged: Self { Self(decoding: .useDefaultKeys, encoding: .useDefaultKeys) }
    /// `first_name` for `firstName`.
    public static var snakeCase: Self {
        Self(decoding: .convertFromSnakeCase, encoding: .convertToSnakeCase)
    }
}

extension JSONOptions.Dates {
    /// Text such as `2026-01-31T12:00:00Z`.
    public static var iso8601: Self { Self(decoding: .iso8601, encoding: .iso8601) }
    /// Seconds since 1970.
    public static var secondsSince1970: Self {
        Self(decoding: .secondsSince1970, encoding: .secondsSince1970)
    }
    /// Milliseconds since 1970.
    public static var millisecondsSince1970: Self {
        Self(decoding: .millisecondsSince1970, encoding: .millisecondsSince1970)
    }
    /// Seconds since 2001, the default of `JSONDecoder` and `JSONEncoder`.
    public static var secondsSince2001: Self {
        Self(decoding: .deferredToDate, encoding: .deferredToDate)
    }
}

extension JSONOptions.Bytes {
    /// Base64 text.
    public static var base64: Self { Self(decoding: .base64, encoding: .base64) }
    /// A list of numbers.
    public static var numbers: Self { Self(decoding: .deferredToData, encoding: .deferredToData) }
}

extension JSONOptions.Floats {
    /// They are an error.
    public static var refused: Self { Self(decoding: .throw, encoding: .throw) }
    /// A text for each of them, such as `"inf"`, `"-inf"` and `"nan"`.
    public static func text(positive: String, negative: String, nan: String) -> Self {
        Self(
            decoding: .convertFromString(
                positiveInfinity: positive, negativeInfinity: negative, nan: nan),
            encoding: .convertToString(
                positiveInfinity: positive, negativeInfinity: negative, nan: nan))
    }
}

extension JSONOptions {
    /// Whether a strategy is set.
    var hasStrategies: Bool { keys != nil || dates != nil || data != nil || floats != nil }

    /// The options with those of the configuration where a strategy is `nil`.
    func completed(by shared: JSONOptions) -> JSONOptions {
        var options = self
        options.keys = keys ?? shared.keys
        options.dates = dates ?? shared.dates
        options.data = data ?? shared.data
        options.floats = floats ?? shared.floats
        return options
    }

    /// The decoder of responses.
    var decoder: JSONReader {
        var decoder = JSONReader.responseDefault
        if let keys { decoder.keyDecodingStrategy = keys.decoding }
        if let dates { decoder.dateDecodingStrategy = dates.decoding }
        if let data { decoder.dataDecodingStrategy = data.decoding }
        if let floats { decoder.nonConformingFloatDecodingStrategy = floats.decoding }
        return decoder
    }

    /// The encoder of bodies and arguments.
    var encoder: JSONWriter {
        var encoder = JSONWriter.requestDefault
        if let keys { encoder.keyEncodingStrategy = keys.encoding }
        if let dates { encoder.dateEncodingStrategy = dates.encoding }
        if let data { encoder.dataEncodingStrategy = data.encoding }
        if let floats { encoder.nonConformingFloatEncodingStrategy = floats.encoding }
        return encoder
    }
}

extension RequestDescription {
    /// The encoder of body and arguments.
    package func jsonEncoder(_ configuration: Configuration) -> JSONWriter {
        guard hasRareMembers, json.hasStrategies else { return configuration.requestEncoder }
        return json.completed(by: configuration.json).encoder
    }

    /// The keys that lead to the typed output.
    func outputPath(_ configuration: Configuration) -> [String] {
        json.path ?? configuration.json.path ?? []
    }
}
