package import ErrandHTTP
import HTTPTypes

/// Encodes a body and sets `Content-Encoding`; a pure function.
package enum BodyCompression {
    /// - Parameter isEncoded: Whether the endpoint itself sets `Content-Encoding`: it has already encoded the body.
    /// - Throws: ``RequestError/Code/unsupported`` for a body that is not in memory,
    ///   ``RequestError/Code/invalidBody``, and ``RequestError/Code/invalidHeader`` for a shared `Content-Encoding` of
    ///   another coding.
    package static func apply(
        _ encoder: any BodyEncoder, to request: inout TransportRequest, endpoint: String,
        isEncoded: Bool
    ) throws(RequestError) {
        guard let body = request.body, !isEncoded else { return }
        guard case .data(let data) = body.storage else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(endpoint) has a compression and a body that is not in memory: a file, a stream or a multipart body. "
                    + "Compress the file in advance and set Content-Encoding, or remove the encoder."
            )
        }
        guard !data.isEmpty else { return }
        guard encoder.contentCoding.isToken else {
            throw RequestError(
                .invalidHeader, stage: .build,
                "\(endpoint)'s compression has a contentCoding that is not a token.")
        }
        if let shared = request.headers[.contentEncoding],
            !shared.hasSameBytes(ignoringCase: encoder.contentCoding)
        {
            throw RequestError(
                .invalidHeader, stage: .build,
                "\(endpoint) has a compression for \(encoder.contentCoding), and a shared header Content-Encoding "
                    + "with another value. Remove the shared header; the encoder writes its own.")
        }
        do {
            var encoded = body
            encoded.storage = .data(try encoder.encode(data))
            request.body = encoded
        } catch {
            throw error as? RequestError
                ?? RequestError(
                    .invalidBody, stage: .build,
                    "\(endpoint)'s compression failed; see the underlying error.",
                    underlying: error)
        }
        request.headers[.contentEncoding] = encoder.contentCoding
    }
}
