import Foundation
import HTTPTypes

/// Puts a body into its encoded form, with the header that says so: a pure function.
enum BodyCompression {
    /// - Throws: ``RequestError/Code/unsupported`` for a body that is not in memory, ``RequestError/Code/invalidBody``.
    static func apply(
        _ encoder: any BodyEncoder, to request: inout TransportRequest, endpoint: String
    ) throws(RequestError) {
        // Nothing gets no smaller; and a body that is encoded already is the endpoint's own doing.
        guard let body = request.body, !request.headers.contains(.contentEncoding) else { return }
        guard case .data(let data) = body.storage else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(endpoint) has a bodyEncoder and a body that is not in memory: a file, a stream or a multipart body. "
                    + "Compress the file beforehand and set Content-Encoding, or leave the encoder out."
            )
        }
        guard !data.isEmpty else { return }
        guard encoder.contentCoding.isToken else {
            throw RequestError(
                .invalidHeader, stage: .build,
                "\(endpoint)'s bodyEncoder has a contentCoding that is no token.")
        }
        do {
            request.body = HTTPBody(
                storage: .data(try encoder.encode(data)), contentType: body.contentType)
        } catch {
            throw error as? RequestError
                ?? RequestError(
                    .invalidBody, stage: .build,
                    "\(endpoint)'s bodyEncoder failed; what it threw lies beneath.",
                    underlying: error)
        }
        request.headers.append(HTTPField(name: .contentEncoding, value: encoder.contentCoding))
    }
}
