#if canImport(Darwin)
    import Foundation

    enum ChallengeRules {
        /// Whether the challenge is for server trust, which the system's default handling evaluates.
        static func isServerTrust(_ challenge: URLAuthenticationChallenge) -> Bool {
            challenge.protectionSpace.authenticationMethod
                == NSURLAuthenticationMethodServerTrust
        }
    }
#endif
