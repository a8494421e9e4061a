import ErrandTransport
import Foundation
import Synchronization

extension URLSessionTransfer {
    func refusal(of head: ResponseHead) -> RequestError? {
        if head.wireSize > request.options.maximumHeadBytes {
            return RequestError(
                .badServerResponse, stage: .transport,
                "The response head is larger than \(request.options.maximumHeadBytes) bytes. "
                    + "Raise maximumHeadBytes if this is expected.")
        }
        if head.hasInvalidLength {
            return RequestError(
                .badServerResponse, stage: .transport,
                "The response's Content-Length is not a single number of bytes (RFC 9112 §6.3).")
        }
        if let limit = request.options.maximumBodyBytes, let length = head.contentLength,
            length > limit, request.method != .head
        {
            return tooLarge(limit)
        }
        return nil
    }

    /// The same limit as in `CurlTransport`.
    private static var maximumInterimResponses: Int { 64 }

    func refusal(ofInterim head: ResponseHead) -> RequestError? {
        let count = state.withLock { state in
            state.interimCount += 1
            return state.interimCount
        }
        guard head.status.code != 101, count <= Self.maximumInterimResponses else {
            return RequestError(
                .badServerResponse, stage: .transport,
                head.status.code == 101
                    ? "The server switched protocols (101), which the request did not ask for."
                    : "More than \(Self.maximumInterimResponses) interim responses arrived.")
        }
        return nil
    }

    func refusal(ofBytes count: Int) -> RequestError? {
        let (received, encoded) = state.withLock { state in
            state.received += Int64(count)
            return (state.received, state.encodedLength)
        }
        if let limit = request.options.maximumBodyBytes, received > limit {
            return tooLarge(limit)
        }
        let ratio = TransportOptions.decodingRatio(
            request.options.maximumDecodingRatio, after: received)
        if let ratio, let encoded {
            let (limit, overflows) = encoded.multipliedReportingOverflow(by: Int64(max(1, ratio)))
            if !overflows, received > limit {
                return RequestError(
                    .bodyTooLarge, stage: .transport,
                    "The decoded body is more than \(ratio) times as large as its encoded form, "
                        + "which may be an attack. Raise maximumDecodingRatio if this is expected.")
            }
        }
        return nil
    }

    private func tooLarge(_ limit: Int64) -> RequestError {
        RequestError(
            .bodyTooLarge, stage: .transport,
            "The body exceeds the limit of \(limit) bytes. "
                + "Raise maximumBodyBytes if this is expected.")
    }
}
