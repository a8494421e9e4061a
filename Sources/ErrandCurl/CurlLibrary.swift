#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Glibc

    /// The version and features of the linked libcurl, read once at run time.
    struct CurlLibrary: Sendable {
        /// The libcurl of this process.
        static let linked = CurlLibrary()

        /// The version, such as `7.88.1`.
        let version: String
        /// Whether libcurl supports HTTP/2.
        var hasHTTP2: Bool
        /// Whether libcurl can reuse a connection that uses HTTP/2 with prior knowledge.
        ///
        /// libcurl 7.88 fails with error 16 on the second request.
        let reusesPriorKnowledge: Bool
        /// Whether a resumed TLS session includes the peer's certificate chain.
        ///
        /// From version 8.12 on, libcurl stores sessions in a serialized form that contains only
        /// the peer's own certificate.
        let sessionsKeepChains: Bool
        /// Whether libcurl joins a folded first header line to a line whose memory it has freed.
        ///
        /// Versions from 7.83 to before 8.1.0 do this when a handle is reused, so a server can
        /// crash the process.
        let mishandlesFoldedFirstLines: Bool
        /// Whether libcurl supports TLS.
        var hasTLS: Bool
        /// Whether libcurl can connect to Unix sockets.
        var hasUnixSockets: Bool
        /// Whether libcurl supports TLS connections to proxies.
        var hasSecureProxies: Bool
        /// Whether the TLS library is OpenSSL or a fork of it, which accepts certificates from
        /// memory.
        var hasOpenSSL: Bool
        /// Whether libcurl has a default certificate bundle, so that the certificate directory is
        /// not needed.
        let hasBundle: Bool
        /// Whether a proxy is set in the environment.
        ///
        /// Read once, because reading the environment while another thread changes it is not safe.
        let environmentNamesProxy: Bool

        private init() {
            CurlLibrary.initialize()
            let information = errand_version_info()?.pointee
            let features = information?.features ?? 0
            version = information?.version.map { String(cString: $0) } ?? "unknown"
            hasHTTP2 = features & CURL_VERSION_HTTP2 != 0
            reusesPriorKnowledge = (information?.version_num ?? 0) >= 0x08_00_00
            sessionsKeepChains = (information?.version_num ?? 0) < 0x08_0C_00
            mishandlesFoldedFirstLines = (0x07_53_00..<0x08_01_00).contains(
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

        /// Initializes libcurl for the process, on the first call.
        static func initialize() { _ = isInitialized }

        private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }
#endif
