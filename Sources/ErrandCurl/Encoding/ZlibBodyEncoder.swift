public import ErrandCore
public import Foundation

/// gzip and deflate for the bodies of requests, by the system's zlib (row RSQ-9).
///
///     override var bodyEncoder: (any BodyEncoder)? { .gzip }
///
/// zlib is opened at run time; it is there wherever libcurl is. Where it is not, and on other systems than Linux, such a
/// request fails with ``RequestError/Code/unsupported`` before anything is sent.
public struct ZlibBodyEncoder: BodyEncoder, Hashable {
    /// How the compressed bytes are wrapped.
    public enum Format: String, Sendable, Hashable {
        /// RFC 1952: what servers take if they take anything.
        case gzip
        /// RFC 1950, which is what HTTP calls deflate (RFC 9110 §8.4.1.2).
        case deflate
    }

    /// How the compressed bytes are wrapped.
    public let format: Format
    /// From 1, fast, to 9, small.
    public let level: Int

    /// Makes an encoder.
    ///
    /// - Parameter level: 1 to 9; values beyond are taken for the nearest. Default 6.
    public init(_ format: Format, level: Int = 6) {
        self.format = format
        self.level = min(max(level, 1), 9)
    }

    /// `gzip` or `deflate`.
    public var contentCoding: String { format.rawValue }

    /// The compressed body.
    ///
    /// - Throws: ``RequestError/Code/unsupported`` where there is no zlib.
    public func encode(_ body: Data) throws -> Data {
        #if os(Linux)
            guard let library = ZlibCompression.loaded,
                let data = library.compress(body, format: format, level: Int32(level))
            else { throw Self.refusal }
            return data
        #else
            throw Self.refusal
        #endif
    }

    private static var refusal: RequestError {
        RequestError(
            .unsupported, stage: .build,
            "There is no zlib here to compress the body with. Leave bodyEncoder out, or give one of your own."
        )
    }
}

extension BodyEncoder where Self == ZlibBodyEncoder {
    /// gzip, which servers take if they take anything.
    public static var gzip: ZlibBodyEncoder { ZlibBodyEncoder(.gzip) }
    /// deflate with zlib's wrapping.
    public static var deflate: ZlibBodyEncoder { ZlibBodyEncoder(.deflate) }
}
