#if os(Linux)
    import CLibcurl
    import ErrandCore
    import Glibc

    /// What the linked libcurl is and can do, found once at run time.
    struct CurlLibrary: Sendable {
        /// The library of this process.
        static let linked = CurlLibrary()

        /// Its version in words, such as `7.88.1`.
        let version: String
        /// Whether it speaks HTTP/2.
        let hasHTTP2: Bool
        /// Whether it can use a connection with prior knowledge of HTTP/2 for a second request.
        ///
        /// libcurl 7.88 fails with error 16 then.
        let reusesPriorKnowledge: Bool
        /// Whether a TLS session that it resumes still knows the peer's chain.
        ///
        /// From libcurl 8.12 on sessions are kept in a written form, which holds the peer's own certificate alone.
        let keepsChainsOfSessions: Bool
        /// Whether it takes a folded line at the beginning of a head for the rest of a line that it has freed.
        ///
        /// So from 7.83 until 8.1.0, when a handle is used again: a server can end the process by it.
        let mistakesFoldedFirstLines: Bool
        /// Whether it speaks TLS.
        let hasTLS: Bool
        /// Whether it can connect to Unix sockets.
        let hasUnixSockets: Bool
        /// Whether it speaks TLS to proxies.
        let hasSecureProxies: Bool
        /// Whether its TLS is OpenSSL's or a relative's, which takes certificates from memory.
        let hasOpenSSL: Bool
        /// Whether it knows a bundle of certificates, so that the directory of single ones can be left alone.
        let hasBundle: Bool
        /// Whether the environment names a proxy.
        ///
        /// Read once: the environment must not change under threads.
        let environmentNamesProxy: Bool

        private init() {
            CurlLibrary.initialize()
            let information = errand_version_info()?.pointee
            let features = information?.features ?? 0
            version = information?.version.map { String(cString: $0) } ?? "unknown"
            hasHTTP2 = features & CURL_VERSION_HTTP2 != 0
            reusesPriorKnowledge = (information?.version_num ?? 0) >= 0x08_00_00
            keepsChainsOfSessions = (information?.version_num ?? 0) < 0x08_0C_00
            mistakesFoldedFirstLines = (0x07_53_00..<0x08_01_00).contains(
                information?.version_num ?? 0)
            hasTLS = features & CURL_VERSION_SSL != 0
            hasUnixSockets = features & CURL_VERSION_UNIX_SOCKETS != 0
            hasSecureProxies = features & CURL_VERSION_HTTPS_PROXY != 0
            let backend = information?.ssl_version.map { String(cString: $0) } ?? ""
            hasOpenSSL = ["OpenSSL", "LibreSSL", "BoringSSL", "quictls", "AWS-LC"].contains {
                backend.hasPrefix($0)
            }
            hasBundle = information?.cainfo != nil
            environmentNamesProxy = [
                "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
            ]
            .contains { (name: String) in getenv(name).map { $0[0] != 0 } ?? false }
        }

        /// Prepares libcurl; the first call does it, for the whole process.
        static func initialize() { _ = isInitialized }

        private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }
#endif
