#if os(Linux)
    import CLibcurl
    import ErrandHTTP
    import ErrandOpenSSL

    /// The OpenSSL that libcurl uses, and its groups of functions, each found on first use.
    ///
    /// All are `nil` if libcurl uses another TLS library; a group is, if this version lacks one of its
    /// functions.
    enum LibcurlOpenSSL {
        static let library: OpenSSL? = {
            let text = Curl.loaded?.information?.ssl_version.map { String(cString: $0) }
            return version(in: text ?? "").flatMap { OpenSSL(loaded: $0) }
        }()

        static let contexts: OpenSSL.Contexts? = find()
        static let connections: OpenSSL.Connections? = find()
        static let transfers: OpenSSL.Transfers? = find()
        static let streams: OpenSSL.Streams? = find()
        static let certificates: OpenSSL.Certificates? = find()
        static let verifications: OpenSSL.Verifications? = find()
        static let authorities: OpenSSL.Authorities? = find()
        static let errors: OpenSSL.Errors? = find()
        static let process: OpenSSL.Process? = find()

        private static func find<Group: FunctionGroup>() -> Group? {
            library.flatMap { try? $0.functions() }
        }

        private static func version(in text: String) -> OpenSSL.Version? {
            if text.starts(withBytes: "OpenSSL/3.") { return .v3 }
            return text.starts(withBytes: "OpenSSL/1.1.") ? .v1 : nil
        }
    }
#endif
