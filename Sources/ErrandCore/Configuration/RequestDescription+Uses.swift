extension RequestDescription {
    /// The parts of the configuration that apply to a request.
    ///
    ///     request.uses.remove(.cookies)
    public struct Uses: OptionSet, Sendable, Hashable {
        /// The bits of the members.
        public let rawValue: UInt8

        /// Creates a set from the bits of its members.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The headers of the configuration, including those of hosts and of the provider.
        public static let sharedHeaders = Uses(rawValue: 1)
        /// The arguments of the configuration, including those of hosts and of the provider.
        public static let sharedArguments = Uses(rawValue: 2)
        /// Cookies are sent and stored; ``Configuration/usesCookies`` must allow it as well.
        public static let cookies = Uses(rawValue: 4)
        /// ``Configuration/authenticators`` add credentials and refresh them after a 401.
        ///
        /// Remove it in the requests by which an authenticator gets or refreshes credentials: otherwise they can wait
        /// for themselves. See <doc:CredentialsAndRedirects>.
        public static let authenticators = Uses(rawValue: 8)
        /// A cellular connection may be used: Apple platforms only.
        ///
        /// ``TransportOptions/allowsCellularAccess`` must allow it as well.
        public static let cellular = Uses(rawValue: 16)
        /// All of them.
        public static let all: Uses = [
            .sharedHeaders, .sharedArguments, .cookies, .authenticators, .cellular,
        ]
    }
}
