package import ErrandHTTP
import Synchronization

/// Two captures of one request, each with its own numbers of transfers; more than two are nested pairs.
///
/// If both intervene, the intervention of the first one contains that of the second one. The transport of the second one
/// takes the place of that of the first one, or wraps it.
package final class RequestCapturePair: RequestCapture {
    private let first: any RequestCapture
    private let second: any RequestCapture
    /// The numbers of the transfers in both captures.
    private let numbers = Mutex<[(first: Int, second: Int)]>([])

    private init(_ first: any RequestCapture, _ second: any RequestCapture) {
        self.first = first
        self.second = second
    }

    /// A capture that calls both; the second one if there is no first one.
    package static func joining(
        _ first: (any RequestCapture)?, _ second: any RequestCapture
    ) -> any RequestCapture {
        first.map { RequestCapturePair($0, second) } ?? second
    }

    package var observesEvents: Bool { first.observesEvents || second.observesEvents }

    package var intervenes: Bool { first.intervenes || second.intervenes }

    package func intervention(
        in request: TransportRequest, attempt: Int
    ) -> TransferIntervention? {
        let outer = first.intervention(in: request, attempt: attempt)
        let inner = second.intervention(in: request, attempt: attempt)
        guard let outer, let inner else { return outer ?? inner }
        return { send in
            try await outer { () throws(RequestError) in
                do {
                    return try await inner(send)
                } catch {
                    throw error as? RequestError ?? .cancelled
                }
            }
        }
    }

    package func transferStarted(_ request: TransportRequest, attempt: Int) -> Int {
        let pair = (
            first: first.transferStarted(request, attempt: attempt),
            second: second.transferStarted(request, attempt: attempt)
        )
        return numbers.withLock { numbers in
            numbers.append(pair)
            return numbers.count - 1
        }
    }

    package func transport(
        of transfer: Int, over transport: any Transport
    ) -> (any Transport)? {
        let number = numbers.withLock { $0[transfer] }
        let inner = first.transport(of: number.first, over: transport)
        return second.transport(of: number.second, over: inner ?? transport) ?? inner
    }

    package func transferUses(_ connection: Response.Connection, _ transfer: Int) {
        let number = numbers.withLock { $0[transfer] }
        first.transferUses(connection, number.first)
        second.transferUses(connection, number.second)
    }

    package func webSocket(_ event: WebSocketEvent, _ transfer: Int) {
        let number = numbers.withLock { $0[transfer] }
        first.webSocket(event, number.first)
        second.webSocket(event, number.second)
    }

    package func transferEnded(
        _ transfer: Int, _ head: ResponseHead?, _ body: Response.Body?, _ error: RequestError?,
        _ end: Shared<TransferEnd>
    ) {
        let number = numbers.withLock { $0[transfer] }
        first.transferEnded(number.first, head, body, error, end)
        second.transferEnded(number.second, head, body, error, end)
    }

    package func requestEnded(
        _ result: Result<Response, RequestError>, _ cacheMiss: CacheMissReason?
    ) {
        first.requestEnded(result, cacheMiss)
        second.requestEnded(result, cacheMiss)
    }
}
