import ErrandTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How a session responds to an authentication challenge.
enum ChallengeResponse {
    /// The system decides.
    case system
    case credential(URLCredential)
    /// The connection is not trusted; the transfer ends with the error.
    case failure(RequestError)
    /// The response with the challenge is delivered; see ``SessionDelegate``.
    case refusal
}
