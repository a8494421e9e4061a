public import ErrandTransport
public import Foundation

/// Compresses request bodies with gzip or deflate, using the system's zlib.
///
///     override var bodyEncoder: (any BodyEncoder)? { .gzip }
///
/// zlib is loaded at run time; libcurl itself depends on it. Without zlib, and on systems other
/// than Linux, such a request fails with ``RequestError/Code/unsupported`` before anything is sent.
public struct ZlibBodyEncoder: BodyEncoder, Hashable {
    /// The format of the compressed bytes.
    public enum Format: String, Sendable, Hashable {
        /// gzip (RFC 1952), the coding that servers support most widely.
        case gzip
        /// The zlib format (RFC 1950), which HTTP calls deflate (RFC 9110 §8.4.1.2).
        case deflate
    }

    /// The format of the compressed bytes.
    public let format: Format
    /// The compression level, from 1 (fastest) to 9 (smallest).
    public let level: Int

    /// Creates an encoder.
    ///
    /// - Parameter level: 1 to 9; values outside are clamped. Default 6.
    public init(_ format: Format, level: Int = 6) {
        self.format = format
        self.level = min(max(level, 1), 9)
    }

    /// `gzip` or `deflate`.
    public var contentCoding: String { format.rawValue }

    /// Returns the compressed body.
    ///
    /// - Throws: ``RequestError/Code/unsupported`` if zlib is not available.
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
            "zlib is not available to compress the body. Remove bodyEncoder, or provide another encoder."
        )
    }
}

extension BodyEncoder where Self == ZlibBodyEncoder {
    /// gzip, the coding that servers support most widely.
    public static var gzip: ZlibBodyEncoder { ZlibBodyEncoder(.gzip) }
    /// deflate, in the zlib format.
    public static var deflate: ZlibBodyEncoder { ZlibBodyEncoder(.deflate) }
}
