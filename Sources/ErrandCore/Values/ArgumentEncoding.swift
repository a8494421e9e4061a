public import Foundation

/// How arguments are written in a query and in a form's body; dates and data also in JSON.
///
/// The defaults are the ones that the field has used for a decade (rows ENC-1 to ENC-13), except that the
/// order is the author's: see ``sortsKeys``.
public struct ArgumentEncoding: Sendable {
    /// How arrays are written; default ``ArrayStyle/brackets``.
    public var arrays: ArrayStyle
    /// How null is written; default ``NullStyle/keyOnly``.
    public var nulls: NullStyle
    /// How truth values are written; default ``BoolStyle/numeric``.
    ///
    /// JSON and property lists have their own.
    public var bools: BoolStyle
    /// How dates are written, in JSON too; default ``DateStyle/iso8601``.
    ///
    /// Property lists have their own.
    public var dates: DateStyle
    /// How bytes are written, in JSON too; default ``DataStyle/base64``.
    ///
    /// Property lists have their own.
    public var data: DataStyle
    /// How a space is written; default ``SpaceStyle/percentEncoded``.
    public var spaces: SpaceStyle
    /// Which characters stay as they are; default ``EscapeStyle/query``.
    public var escapes: EscapeStyle
    /// The charset of names and values in query and form; default UTF-8.
    ///
    /// Text that has no place in it fails the request with ``RequestError/Code/invalidArguments``, and a form's
    /// content type names it (row ENC-12). JSON, property lists and multipart are UTF-8 whatever this says.
    public var charset: Charset
    /// Whether names are sorted by code units at every level, as AFNetworking did; also in JSON.
    ///
    /// Default false: literals keep their order; dictionaries are sorted already when they become arguments.
    public var sortsKeys: Bool
    /// Writes query and form in place of all this (row ENC-10); its text must be percent-encoded.
    public var custom: (@Sendable (Arguments) throws -> String)?

    /// Makes an encoding; everything has a default.
    public init(
        arrays: ArrayStyle = .brackets, nulls: NullStyle = .keyOnly, bools: BoolStyle = .numeric,
        dates: DateStyle = .iso8601, data: DataStyle = .base64,
        spaces: SpaceStyle = .percentEncoded, escapes: EscapeStyle = .query,
        charset: Charset = .utf8, sortsKeys: Bool = false,
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
        self.custom = custom
    }

    /// What a browser sends for a form (WHATWG URL, application/x-www-form-urlencoded).
    public static var webForm: ArgumentEncoding {
        ArgumentEncoding(
            arrays: .repeated, nulls: .empty, bools: .literal, spaces: .plus, escapes: .webForm)
    }

    /// How the elements of an array are named.
    public enum ArrayStyle: Sendable, Hashable {
        /// `a[]=1&a[]=2`
        case brackets
        /// `a[0]=1&a[1]=2`
        case indices
        /// `a=1&a=2`
        case repeated
        /// `a=1,2`; for plain values only.
        case comma
    }

    /// What stands for null.
    public enum NullStyle: Sendable, Hashable {
        /// The name without `=`.
        case keyOnly
        /// The name with `=` and nothing behind it.
        case empty
        /// Nothing at all.
        case omit
    }

    /// What stands for true and false.
    public enum BoolStyle: Sendable, Hashable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal
    }

    /// What stands for a date.
    public enum DateStyle: Sendable {
        /// `2026-01-31T23:59:59Z`: UTC, whole seconds.
        case iso8601
        /// `2026-01-31T23:59:59.123Z`: UTC, milliseconds.
        case iso8601Milliseconds
        /// Seconds since 1970, with a fraction where there is one.
        case secondsSince1970
        /// Milliseconds since 1970, whole.
        case millisecondsSince1970
        /// Text of your own.
        case custom(@Sendable (Date) -> String)
    }

    /// What stands for bytes.
    public enum DataStyle: Sendable, Hashable {
        /// Base64 with padding (RFC 4648 §4).
        case base64
        /// Two lower-case hexadecimal digits a byte.
        case hex
    }

    /// The charset of a form: UTF-8, or what an old server reads.
    public struct Charset: Sendable, Hashable {
        /// The name that goes into the content type, such as `gbk`; empty for UTF-8, which needs none.
        public let name: String
        /// Foundation's encoding.
        public let encoding: String.Encoding

        /// Makes a charset of a registered name and Foundation's encoding of it.
        public init(name: String, encoding: String.Encoding) {
            self.name = name
            self.encoding = encoding
        }

        /// UTF-8, the default.
        public static let utf8 = Charset(name: "", encoding: .utf8)
        /// GBK and its successor GB 18030.
        public static let gb18030 = Charset(
            name: "gb18030", encoding: String.Encoding(rawValue: 0x8000_0632))
        /// Shift JIS.
        public static let shiftJIS = Charset(name: "shift_jis", encoding: .shiftJIS)
        /// ISO 8859-1.
        public static let latin1 = Charset(name: "iso-8859-1", encoding: .isoLatin1)
    }

    /// What stands for a space.
    public enum SpaceStyle: Sendable, Hashable {
        /// `%20`
        case percentEncoded
        /// `+`
        case plus
    }

    /// Which characters are not percent-encoded, besides letters and digits.
    public enum EscapeStyle: Sendable, Hashable {
        /// `-._~?/`: the unreserved ones, and two that a query may hold (RFC 3986 §3.4).
        case query
        /// `-._~`: only the unreserved ones (RFC 3986 §2.3).
        case unreserved
        /// `*-._`: what browsers leave alone.
        case webForm
    }
}
