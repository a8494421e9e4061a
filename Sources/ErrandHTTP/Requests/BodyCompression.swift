import HTTPTypes

/// Encodes a body and sets `Content-Encoding`; a pure function.
package enum BodyCompression {
    /// - Throws: ``RequestError/Code/unsupported`` for a body that is not in memory,
    ///   ``RequestError/Code/invalidBody``.
    package static func apply(
        _ encoder: any BodyEncoder, to request: inout TransportRequest, endpoint: String
    ) throws(RequestError) {
        // An endpoint that sets Content-Encoding has already encoded the body.
        guard let body = request.body, !request.headers.contains(.contentEncoding) else { return }
        guard case .data(let data) = body.storage else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(endpoint) has a bodyEncoder and a body that is not in memory: a file, a stream or a multipart body. "
                    + "Compress the file in advance and set Content-Encoding, or remove the encoder."
            )
        }
        guard !data.isEmpty else { return }
        guard encoder.contentCoding.isToken else {
            throw RequestError(
                .invalidHeader, stage: .build,
                "\(endpoint)'s bodyEncoder has a contentCoding that is not a token.")
        }
        do {
            var encoded = body
            encoded.storage = .data(try encoder.encode(data))
            request.body = encoded
        } catch {
            throw error as? RequestError
                ?? RequestError(
                    .invalidBody, stage: .build,
                    "\(endpoint)'s bodyEncoder failed; see the underlying error.",
                    underlying: error)
        }
        request.headers.append(HTTPField(name: .contentEncoding, value: encoder.contentCoding))
    }
}
