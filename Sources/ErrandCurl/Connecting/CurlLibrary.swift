#if os(Linux)
    import CLibcurl
    import ErrandOpenSSL
    import ErrandTransport

    /// The version and features of the linked libcurl, read once at run time.
    struct CurlLibrary: Sendable {
        /// The libcurl of this process.
        static let linked = CurlLibrary()

        /// The version, such as `7.88.1`.
        let version: String
        /// Whether a resumed TLS session includes the peer's certificate chain.
        ///
        /// From version 8.12 on, libcurl stores sessions in a serialized form that contains only
        /// the peer's own certificate.
        let sessionsKeepChains: Bool
        /// Whether libcurl buffers input below TLS, which OpenSSL does not know.
        let buffersBelowTLS: Bool
        /// Whether libcurl supports TLS.
        var hasTLS: Bool
        /// Whether libcurl can connect to Unix sockets.
        var hasUnixSockets: Bool
        /// Whether libcurl supports TLS connections to proxies.
        var hasSecureProxies: Bool
        /// Whether the TLS library is OpenSSL or a fork of it, which accepts certificates from
        /// memory.
        var hasOpenSSL: Bool
        /// The compiled-in file and directory of trusted certificates.
        let bundle: String?
        let directory: String?
        /// Whether libcurl has a default certificate bundle, so that the certificate directory is
        /// not needed.
        var hasBundle: Bool { bundle != nil }
        /// Whether a connection uses the compiled-in certificate directory although its option is
        /// cleared, as from version 8.17 on, or never cleared.
        let keepsDirectory: Bool

        private init() {
            CurlLibrary.initialize()
            let information = errand_version_info()?.pointee
            let features = information?.features ?? 0
            version = information?.version.map { String(cString: $0) } ?? "unknown"
            sessionsKeepChains = (information?.version_num ?? 0) < 0x08_0C_00
            buffersBelowTLS = (0x08_01_00..<0x08_09_00).contains(information?.version_num ?? 0)
            hasTLS = features & CURL_VERSION_SSL != 0
            hasUnixSockets = features & CURL_VERSION_UNIX_SOCKETS != 0
            hasSecureProxies = features & CURL_VERSION_HTTPS_PROXY != 0
            let backend = information?.ssl_version.map { String(cString: $0) } ?? ""
            hasOpenSSL = ["OpenSSL", "LibreSSL", "BoringSSL", "quictls", "AWS-LC"].contains {
                backend.starts(withBytes: $0)
            }
            bundle = information?.cainfo.map { String(cString: $0) }
            directory = information?.capath.map { String(cString: $0) }
            keepsDirectory = Self.keepsDirectory(
                directory, bundle: bundle, version: information?.version_num ?? 0)
        }

        /// See ``keepsDirectory``.
        static func keepsDirectory(_ directory: String?, bundle: String?, version: UInt32) -> Bool {
            directory != nil && (bundle == nil || version >= 0x08_11_00)
        }

        /// Initializes libcurl for the process, on the first call.
        static func initialize() { _ = isInitialized }

        private static let isInitialized: Bool = {
            LibcurlOpenSSL.library?.skipCleanup()
            return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
        }()
    }
#endif
