#if canImport(Darwin)
    import Foundation

    enum ChallengeRules {
        /// Whether the challenge is about the server's certificate, which the system judges.
        static func isServerTrust(_ challenge: URLAuthenticationChallenge) -> Bool {
            challenge.protectionSpace.authenticationMethod
                == NSURLAuthenticationMethodServerTrust
        }
    }
#endif
