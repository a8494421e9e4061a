#if Redis
    extension RedisResponseStore {
        /// The settings of connections with TLS 1.2 or later.
        ///
        /// The server's certificate must lead to a trusted authority, be within its validity period,
        /// and contain the host name or the address. These checks cannot be turned off.
        ///
        ///     var settings = RedisResponseStore.Configuration(address: .host("cache.internal"))
        ///     settings.tls = RedisResponseStore.TLS()
        ///     settings.tls?.authorityFile = "/etc/shop/authority.pem"
        ///
        /// The files are read when a store is created, and again each time it connects, so that
        /// renewed certificates are used.
        public struct TLS: Sendable, Hashable {
            /// The path of a PEM file with the trusted root certificates.
            ///
            /// Default `nil`: the system's.
            public var authorityFile: String?
            /// The path of a PEM file with the client certificate, and the intermediate ones after
            /// it.
            ///
            /// Default `nil`: none.
            public var clientCertificateFile: String?
            /// The path of a PEM file with the private key of the client certificate, not encrypted.
            ///
            /// Default `nil`: the key is in ``clientCertificateFile``.
            public var clientKeyFile: String?
            /// The host name or the IP address that the server's certificate must contain.
            ///
            /// Default `nil`: the host of the address. Set it if the address is that of a tunnel, or
            /// if the certificate has another name.
            public var serverName: String?

            /// Creates settings that trust the system's authorities, without a client certificate.
            public init() {}

            /// Describes the first invalid value; `nil` if all are valid.
            func fault(_ address: Address) -> String? {
                if case .unixSocket = address {
                    return "tls is set for a Unix socket. Set the address to a host and the "
                        + "server's TLS port, or tls to nil."
                }
                if let serverName, serverName.isEmpty || serverName.utf8.contains(0) {
                    return "tls.serverName is not a host name. Set a host name or nil."
                }
                if clientKeyFile != nil, clientCertificateFile == nil {
                    return "tls.clientKeyFile is set without tls.clientCertificateFile. Set both."
                }
                return nil
            }
        }
    }
#endif
