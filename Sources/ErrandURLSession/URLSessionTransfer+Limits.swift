import ErrandCore
import Foundation
import Synchronization

extension URLSessionTransfer {
    func refusal(of head: ResponseHead) -> RequestError? {
        if head.wireSize > request.options.maximumHeadBytes {
            return RequestError(
                .badServerResponse, stage: .transport,
                "The answer's head is larger than \(request.options.maximumHeadBytes) bytes; "
                    + "raise maximumHeadBytes if that is expected.")
        }
        if head.hasContradictoryLength {
            return RequestError(
                .badServerResponse, stage: .transport,
                "The answer's Content-Length is not one number.")
        }
        if let limit = request.options.maximumBodyBytes, let length = head.contentLength,
            length > limit, request.method != .head
        {
            return tooLarge(limit)
        }
        return nil
    }

    /// As many as `CurlTransport` takes.
    private static var mostInterim: Int { 64 }

    func refusal(ofInterim head: ResponseHead) -> RequestError? {
        let count = state.withLock { state in
            state.interim += 1
            return state.interim
        }
        guard head.status.code != 101, count <= Self.mostInterim else {
            return RequestError(
                .badServerResponse, stage: .transport,
                head.status.code == 101
                    ? "The server switches protocols, which nobody asked for."
                    : "There are more than \(Self.mostInterim) interim answers.")
        }
        return nil
    }

    func refusal(ofFurther count: Int) -> RequestError? {
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
                    "The decoded body is more than \(ratio) times as large as its encoded form; "
                        + "raise maximumDecodingRatio if that is expected.")
            }
        }
        return nil
    }

    private func tooLarge(_ limit: Int64) -> RequestError {
        RequestError(
            .bodyTooLarge, stage: .transport,
            "The body is larger than \(limit) bytes; raise maximumBodyBytes if that is expected.")
    }
}
