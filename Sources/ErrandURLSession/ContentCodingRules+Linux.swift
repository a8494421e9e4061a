#if canImport(FoundationNetworking)
    enum ContentCodingRules {
        /// The value of Accept-Encoding for requests without that header.
        ///
        /// FoundationNetworking (Swift 6.3.1) always lets libcurl decode bodies. libcurl (7.88) takes a body that
        /// ends before the end of the encoded data for a complete one, and the encoded bytes are not available
        /// here to detect that.
        static let defaultAcceptEncoding: String? = "identity"

        /// Whether a response in a content coding that the request does not accept is an error.
        static let requiresAcceptance = true
    }
#endif
