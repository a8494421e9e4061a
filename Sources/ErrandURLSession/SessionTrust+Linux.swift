#if canImport(FoundationNetworking)
    import ErrandTransport
    import Foundation
    import FoundationNetworking

    /// The trust of a session; without effect: ``URLSessionRefusals`` refuses every policy that differs from Foundation's.
    final class SessionTrust: Sendable {
        init(_ security: SharedSecurity?) throws(RequestError) {}

        /// The configuration itself.
        func applied(to configuration: URLSessionConfiguration) -> URLSessionConfiguration {
            configuration
        }

        /// Refuses all challenges: FoundationNetworking sends none for server trust or client certificates.
        func response(
            to challenge: URLAuthenticationChallenge, host: String,
            notice: (PinMismatch) -> Void
        ) -> ChallengeResponse {
            .refusal
        }
    }
#endif
