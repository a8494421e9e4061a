#if canImport(Darwin)
    enum ContentCodingRules {
        /// The value of Accept-Encoding for requests without that header; `nil`: URLSession chooses it.
        static let defaultAcceptEncoding: String? = nil

        /// Whether a response in a content coding that the request does not accept is an error.
        static let requiresAcceptance = false
    }
#endif
