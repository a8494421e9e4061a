public import ErrandSystem

/// The encoding of arguments in queries and form bodies; dates and data also in JSON.
///
/// The defaults match AFNetworking's, except that arguments keep their order: see ``sortsKeys``.
public struct ArgumentEncoding: Sendable {
    /// The style of arrays; default ``ArrayStyle/brackets``.
    public var arrays: ArrayStyle
    /// The style of nulls, of dictionaries and literals as well as of nil properties of `Encodable` values; default
    /// ``NullStyle/keyOnly``.
    public var nulls: NullStyle
    /// The style of Booleans; default ``BoolStyle/numeric``.
    ///
    /// JSON and property lists use their native Booleans.
    public var bools: BoolStyle
    /// The style of dates, also in JSON; default ``DateStyle/iso8601``.
    ///
    /// Property lists use their native dates.
    public var dates: DateStyle
    /// The style of bytes, also in JSON; default ``DataStyle/base64``.
    ///
    /// Property lists use their native data.
    public var data: DataStyle
    /// The style of spaces; default ``SpaceStyle/percentEncoded``.
    public var spaces: SpaceStyle
    /// The characters that are not percent-encoded; default ``EscapeStyle/query``.
    public var escapes: EscapeStyle
    /// The charset of names and values in queries and forms; default UTF-8.
    ///
    /// Text that the charset cannot encode fails the request with ``RequestError/Code/invalidArguments``. The
    /// content type of a form names the charset. JSON, property lists and multipart bodies are always UTF-8.
    public var charset: Charset
    /// Whether names are sorted by UTF-16 code units at every level, also in JSON (default false).
    ///
    /// AFNetworking sorts them. If false, literals keep their order; dictionaries are sorted when they become
    /// arguments.
    public var sortsKeys: Bool
    /// What happens to an argument whose name the query of the URL already has (default
    /// ``DuplicateNames/append``).
    ///
    /// Names are compared after decoding. It applies to ``custom`` as well.
    public var duplicateNames: DuplicateNames
    /// A closure that encodes queries and forms instead of the other settings (default none).
    ///
    /// It must return percent-encoded text. An error that it throws fails the request with
    /// ``RequestError/Code/invalidArguments``.
    public var custom: (@Sendable (Arguments) throws -> String)?

    /// Creates an encoding; every property has a default.
    public init(
        arrays: ArrayStyle = .brackets, nulls: NullStyle = .keyOnly, bools: BoolStyle = .numeric,
        dates: DateStyle = .iso8601, data: DataStyle = .base64,
        spaces: SpaceStyle = .percentEncoded, escapes: EscapeStyle = .query,
        charset: Charset = .utf8, sortsKeys: Bool = false,
        duplicateNames: DuplicateNames = .append,
        custom: (@Sendable (Arguments) throws -> String)? = nil
    ) {
        self.arrays = arrays
        self.nulls = nulls
        self.bools = bools
        self.dates = dates
        self.data = data
        self.spaces = spaces
        self.escapes = escapes
        self.charset = charset
        self.sortsKeys = sortsKeys
        self.duplicateNames = duplicateNames
        self.custom = custom
    }

    /// The encoding that browsers use for forms (WHATWG URL, `application/x-www-form-urlencoded`).
    public static var webForm: ArgumentEncoding {
        ArgumentEncoding(
            arrays: .repeated, nulls: .empty, bools: .literal, spaces: .plus, escapes: .webForm)
    }

    /// A rule for arguments whose names the query of the URL already has.
    ///
    /// It concerns the query only, and not names that repeat within the arguments.
    public enum DuplicateNames: Sendable, Hashable {
        /// The argument follows the one of the URL: `?a=1` becomes `?a=1&a=2`.
        case append
        /// The URL's value stays, and the argument is left out.
        case keepFirst
        /// The argument replaces every value of the URL.
        case replace
        /// The request fails with ``RequestError/Code/invalidArguments``.
        case refuse
    }

    /// A style of naming the elements of an array.
    public enum ArrayStyle: Sendable, Hashable {
        /// `a[]=1&a[]=2`
        case brackets
        /// `a[0]=1&a[1]=2`
        case indices
        /// `a=1&a=2`
        case repeated
        /// `a=1,2`; only for scalar values.
        case comma
    }

    /// A style of encoding null.
    public enum NullStyle: Sendable, Hashable {
        /// The name without `=`.
        case keyOnly
        /// The name with `=` and an empty value.
        case empty
        /// Nothing: the name is left out.
        case omit
    }

    /// A style of encoding Booleans.
    public enum BoolStyle: Sendable, Hashable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal
    }

    /// A style of encoding dates.
    public enum DateStyle: Sendable {
        /// `2026-01-31T23:59:59Z`: UTC, whole seconds.
        case iso8601
        /// `2026-01-31T23:59:59.123Z`: UTC, milliseconds.
        case iso8601Milliseconds
        /// Seconds since 1970, with a fraction if necessary.
        case secondsSince1970
        /// Milliseconds since 1970, as a whole number.
        case millisecondsSince1970
        /// The text that a closure returns.
        case custom(@Sendable (Date) -> String)
    }

    /// A style of encoding bytes.
    public enum DataStyle: Sendable, Hashable {
        /// Base64 with padding (RFC 4648 §4).
        case base64
        /// Two lower-case hexadecimal digits per byte.
        case hex
    }

    /// The charset of a form.
    public struct Charset: Sendable, Hashable {
        /// The name in the content type, such as `gb18030`; empty for UTF-8.
        public let name: String
        /// The encoding in Foundation.
        public let encoding: String.Encoding

        /// Creates a charset from its registered name and its Foundation encoding.
        public init(name: String, encoding: String.Encoding) {
            self.name = name
            self.encoding = encoding
        }

        /// UTF-8, the default.
        public static let utf8 = Charset(name: "", encoding: .utf8)
        /// GB 18030, the successor of GBK.
        public static let gb18030 = Charset(
            name: "gb18030", encoding: String.Encoding(rawValue: 0x8000_0632))
        /// Shift JIS.
        public static let shiftJIS = Charset(name: "shift_jis", encoding: .shiftJIS)
        /// ISO 8859-1.
        public static let latin1 = Charset(name: "iso-8859-1", encoding: .isoLatin1)
    }

    /// A style of encoding spaces.
    public enum SpaceStyle: Sendable, Hashable {
        /// `%20`
        case percentEncoded
        /// `+`
        case plus
    }

    /// A set of characters that are not percent-encoded, in addition to letters and digits.
    public enum EscapeStyle: Sendable, Hashable {
        /// `-._~?/`: the unreserved characters, and two that a query may contain (RFC 3986 §3.4).
        case query
        /// `-._~`: only the unreserved characters (RFC 3986 §2.3).
        case unreserved
        /// `*-._`: the characters that browsers do not encode in forms.
        case webForm
    }
}
