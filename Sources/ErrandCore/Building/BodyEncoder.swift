public import Foundation

/// Compresses a request's body (row RSQ-9).
///
/// It runs behind serialization and before the request processors, which therefore sign what goes over the wire.
/// `ErrandCurl` has `.gzip` and `.deflate` over the system's zlib; one of your own needs no more than this:
///
///     struct Zstd: BodyEncoder {
///         let contentCoding = "zstd"
///         func encode(_ body: Data) throws -> Data { … }
///     }
///
/// A server says by `Accept-Encoding` in an answer which codings it takes (RFC 9110 §12.5.3); many take none.
public protocol BodyEncoder: Sendable {
    /// The name that goes out as `Content-Encoding`: a token.
    var contentCoding: String { get }

    /// The encoded form of a whole body; called off the main actor, once for each task.
    ///
    /// - Throws: What fails the request before anything is sent: a `RequestError` as it is, anything else with
    ///   ``RequestError/Code/invalidBody``.
    func encode(_ body: Data) throws -> Data
}
