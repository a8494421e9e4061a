import ErrandHTTP
import Synchronization

/// The redirected responses to an unsafe request.
///
/// Each response to an unsafe request invalidates the stored responses of the URL of that request (RFC 9111 §4.4), not
/// only the last one: after a 303, for example, the last one belongs to a safe request.
final class UnsafeHops: Sendable {
    private struct State {
        var addresses: [HTTPURL] = []
        var last: Hop?
    }

    /// The request to which the last redirect has led.
    private struct Hop {
        let attempt: Int
        let url: HTTPURL
        let isUnsafe: Bool
    }

    private let state = Mutex(State())

    /// Notes a redirect that an attempt follows.
    func followed(
        _ redirect: Response, from request: TransportRequest, to next: TransportRequest,
        attempt: Int
    ) {
        state.withLock { state in
            if CacheInvalidation.mayChange(request.method) {
                state.addresses += CacheInvalidation.addresses(
                    target: request.url, status: redirect.statusCode, headers: redirect.headers)
            }
            state.last = Hop(
                attempt: attempt, url: next.url,
                isUnsafe: CacheInvalidation.mayChange(next.method))
        }
    }

    /// The URLs that the redirects and the last response invalidate.
    ///
    /// - Parameters:
    ///   - response: The last response, if there is one.
    ///   - url: The URL of the first request, to which the last response belongs unless its attempt was redirected.
    func addresses(and response: Response?, to url: HTTPURL) -> [HTTPURL] {
        let (addresses, last) = state.withLock { ($0.addresses, $0.last) }
        guard let response, response.source == .network else { return addresses }
        let hop = last.flatMap { $0.attempt == response.attempts ? $0 : nil }
        guard hop?.isUnsafe != false else { return addresses }
        return addresses
            + CacheInvalidation.addresses(
                target: hop?.url ?? url, status: response.statusCode, headers: response.headers)
    }
}
