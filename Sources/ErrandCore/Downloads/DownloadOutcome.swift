package import ErrandHTTP
import HTTPTypes

/// The consequence of one request of a download; pure.
package enum DownloadOutcome: Sendable {
    /// The bytes of the response were written.
    case received(Response)
    /// The part file is the whole file.
    case complete(Response)
    /// The server ignored the range; other requests continue.
    case ignored(RequestError)
    /// The part file is unusable: request the whole file, unless that has been done already.
    case restart(RequestError)
    case fail(RequestError)

    /// - Parameters:
    ///   - action: The action for the head of the response; `nil` if none arrived.
    ///   - size: The number of bytes in the part file.
    package init(
        _ result: Result<Response, RequestError>, action: DownloadResponseAction?, size: Int64
    ) {
        switch (result, action) {
        case (.failure(let error), .settle):
            // Validation refuses the 416.
            guard error.code == .unacceptableStatus, let response = error.response else {
                self = .fail(error)
                return
            }
            self = .complete(Self.whole(response, size: size))
        case (.failure(let error), .restart):
            self = error.isCancellation ? .fail(error) : .restart(error)
        case (.failure(let error), .ignore):
            self = error.isCancellation ? .fail(error) : .ignored(error)
        case (.failure(let error), _):
            self = .fail(error)
        case (.success(let response), .settle):
            self = .complete(Self.whole(response, size: size))
        case (.success(let response), .append):
            self = .received(response)
        case (.success(let response), .write) where response.file != nil:
            self = .received(response)
        case (.success(let response), _):
            self = .fail(
                RequestError(
                    .unacceptableStatus, stage: .validate,
                    "Status \(response.statusCode) has no file content. Accept only status 200 for a "
                        + "download.", response: response))
        }
    }

    /// Turns the response for a part (206), or for no missing part (416), into the response for the whole file, which
    /// is what the caller requested (RFC 9110 §15.3.7.3).
    package static func whole(_ response: Response, size: Int64) -> Response {
        guard response.statusCode == 206 || response.statusCode == 416 else { return response }
        var response = response
        // The content of a 416 describes the error.
        if response.statusCode == 416 {
            for name in [.contentType, .contentEncoding, .contentDisposition] as [HTTPField.Name] {
                response.headers[name] = nil
            }
        }
        response.status = .ok
        response.headers[.contentRange] = nil
        response.headers[.contentLength] = String(size)
        return response
    }

    /// The error of a range that adds nothing to the part file.
    package static var noNewBytes: RequestError {
        RequestError(
            .resumeFailed, stage: .transport,
            "The server sent a range without new bytes. Start the download again, or do not resume it."
        )
    }

    /// The error of a body that is shorter than announced.
    package static func truncated(_ response: Response) -> RequestError {
        RequestError(
            .truncatedBody, stage: .transport,
            "The length of the body differs from Content-Length. Start the download again to resume it.",
            response: response)
    }
}
