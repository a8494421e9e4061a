public import ErrandSystem

/// A content coding that compresses request bodies (RFC 9110 §8.4).
///
/// It runs after serialization and before the request processors, so that a processor signs the bytes
/// that are sent. `ErrandCurl` provides `.gzip` and `.deflate` with the system's zlib. A custom encoder:
///
///     struct Zstd: BodyEncoder {
///         let contentCoding = "zstd"
///         func encode(_ body: Data) throws -> Data { … }
///     }
///
/// A server can list the codings that it accepts in the `Accept-Encoding` field of a response (RFC 9110
/// §12.5.3). Many servers accept no coding.
public protocol BodyEncoder: Sendable {
    /// The value of `Content-Encoding`: a token, such as `gzip`.
    var contentCoding: String { get }

    /// Returns the encoded form of a whole body; called off the main actor, once per task.
    ///
    /// - Throws: An error that fails the request before anything is sent: a `RequestError` unchanged, every
    ///   other error as ``RequestError/underlying`` of ``RequestError/Code/invalidBody``.
    func encode(_ body: Data) throws -> Data
}
