#if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking

    enum ChallengeRules {
        /// Never here: FoundationNetworking does not ask about certificates.
        static func isServerTrust(_ challenge: URLAuthenticationChallenge) -> Bool { false }
    }
#endif
