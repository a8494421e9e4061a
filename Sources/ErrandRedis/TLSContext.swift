#if Redis
    import ErrandOpenSSL
    import ErrandSystem

    /// The trust and the client certificate that the connections of a store share: OpenSSL's
    /// `SSL_CTX`.
    // @unchecked: OpenSSL's context is thread-safe, and is not changed after `init`.
    final class TLSContext: @unchecked Sendable {
        /// A setting that cannot be used, and what the user can do.
        struct Fault: Error, Equatable {
            var message: String
        }

        let openSSL: TLSFunctions
        private let context: OpenSSL.Object

        /// Reads the files of the settings.
        init(_ settings: RedisResponseStore.TLS, _ openSSL: TLSFunctions) throws(Fault) {
            openSSL.errors.ERR_clear_error()
            let contexts = openSSL.contexts
            guard let context = contexts.SSL_CTX_new(contexts.TLS_client_method()) else {
                throw Fault(message: "OpenSSL has no TLS client: \(openSSL.errors.take().text).")
            }
            self.openSSL = openSSL
            self.context = context
            // SSL_VERIFY_PEER
            contexts.SSL_CTX_set_verify(context, 1, nil)
            // SSL_CTRL_SET_MIN_PROTO_VERSION with TLS1_2_VERSION
            _ = contexts.SSL_CTX_ctrl(context, 123, 0x0303, nil)
            // SSL_OP_NO_COMPRESSION and SSL_OP_NO_RENEGOTIATION: writing never waits for input.
            _ = contexts.SSL_CTX_set_options(context, 0x2_0000 | 0x4000_0000)
            // The default asks for the passphrase of a key on the terminal.
            contexts.SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
            try trust(settings.authorityFile)
            try identify(settings)
        }

        deinit { openSSL.contexts.SSL_CTX_free(context) }

        private func trust(_ file: String?) throws(Fault) {
            guard let file else {
                _ = openSSL.contexts.SSL_CTX_set_default_verify_paths(context)
                return
            }
            guard openSSL.contexts.SSL_CTX_load_verify_locations(context, file, nil) == 1 else {
                throw fault("tls.authorityFile", file, "certificates in PEM form")
            }
        }

        private func identify(_ settings: RedisResponseStore.TLS) throws(Fault) {
            guard let file = settings.clientCertificateFile else { return }
            let contexts = openSSL.contexts
            guard contexts.SSL_CTX_use_certificate_chain_file(context, file) == 1 else {
                throw fault("tls.clientCertificateFile", file, "a certificate in PEM form")
            }
            let key = settings.clientKeyFile ?? file
            // SSL_FILETYPE_PEM
            guard contexts.SSL_CTX_use_PrivateKey_file(context, key, 1) == 1 else {
                throw fault("tls.clientKeyFile", key, "a private key in PEM form, not encrypted")
            }
            guard contexts.SSL_CTX_check_private_key(context) == 1 else {
                throw fault("tls.clientKeyFile", key, "the key of tls.clientCertificateFile")
            }
        }

        private func fault(_ setting: String, _ file: String, _ content: String) -> Fault {
            Fault(
                message: "\(setting) cannot be used: \(file): \(openSSL.errors.take().text). "
                    + "Set a file with \(content).")
        }

        /// A connection, whose object holds a reference to the context; `nil` if there is no memory.
        func makeConnection() -> OpenSSL.Object? { openSSL.connections.SSL_new(context) }
    }
#endif
