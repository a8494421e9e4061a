#if os(Linux)
    import CLibcurl
    import ErrandOpenSSL
    import ErrandTransport

    /// The version and features of libcurl, read once at run time.
    struct CurlLibrary: Sendable {
        /// The libcurl of this process.
        static let linked = CurlLibrary()

        /// Why no request can use it; `nil` if all can.
        var problem: String?
        /// The version, such as `7.88.1`.
        let version: String
        /// Whether a resumed TLS session includes the peer's certificate chain.
        ///
        /// From version 8.12 on, libcurl stores sessions in a serialized form that contains only
        /// the peer's own certificate.
        let sessionsKeepChains: Bool
        /// Whether libcurl buffers input below TLS, which OpenSSL does not know.
        let buffersBelowTLS: Bool
        /// Whether the allowed protocols have names, as from version 7.85 on, and are no bits.
        let namesProtocols: Bool
        /// Whether a connect can be abandoned during its name lookup, as from version 7.87 on.
        let hasQuickExit: Bool
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
            let curl = CurlLibrary.initialized
            let information = curl?.information
            let features = information?.features ?? 0
            version = information?.version.map { String(cString: $0) } ?? "unknown"
            problem = Self.problem(
                isLoaded: Curl.loaded != nil, version: information?.version_num ?? 0)
            sessionsKeepChains = (information?.version_num ?? 0) < 0x08_0C_00
            buffersBelowTLS = (0x08_01_00..<0x08_09_00).contains(information?.version_num ?? 0)
            namesProtocols = (information?.version_num ?? 0) >= 0x07_55_00
            hasQuickExit = (information?.version_num ?? 0) >= 0x07_57_00
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

        /// See ``problem``.
        static func problem(isLoaded: Bool, version: UInt32) -> String? {
            guard isLoaded else {
                return
                    "libcurl is not installed. Install the package libcurl4 (Debian, Ubuntu) or libcurl (Fedora, "
                    + "Red Hat, Alpine), or copy libcurl.so.4 and its libraries into the container."
            }
            let number = [version >> 16, version >> 8 & 0xFF, version & 0xFF].map(String.init)
            return version >= oldest
                ? nil
                : "libcurl \(number.joined(separator: ".")) is too old, or could not be initialized. Install 7.87 or "
                    + "newer, or use URLSessionTransport."
        }

        /// libcurl 7.87, the oldest with which all tests of connecting have run.
        private static let oldest: UInt32 = 0x07_57_00

        /// libcurl, which is loaded and initialized for the process on the first call; `nil` if that fails.
        static let initialized: Curl? = {
            guard let curl = Curl.loaded else { return nil }
            LibcurlOpenSSL.library?.skipCleanup()
            return curl.curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK ? curl : nil
        }()
    }
#endif
