#if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking

    enum ChallengeRules {
        /// Always false: FoundationNetworking sends no challenges for server trust.
        static func isServerTrust(_ challenge: URLAuthenticationChallenge) -> Bool { false }
    }
#endif
