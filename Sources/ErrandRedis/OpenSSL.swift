#if Redis
    import ErrandHTTP

    /// The functions of OpenSSL's libssl and libcrypto, which are looked up at run time: no header
    /// and no link is needed.
    struct OpenSSL: Sendable {
        typealias Method = @convention(c) @Sendable () -> OpaquePointer?
        typealias Get = @convention(c) @Sendable (OpaquePointer?) -> OpaquePointer?
        typealias Free = @convention(c) @Sendable (OpaquePointer?) -> Void
        typealias Test = @convention(c) @Sendable (OpaquePointer?) -> Int32
        typealias Count = @convention(c) @Sendable (OpaquePointer?) -> Int
        typealias Control =
            @convention(c) @Sendable (OpaquePointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int
        typealias SetOptions = @convention(c) @Sendable (OpaquePointer?, UInt) -> UInt
        typealias SetFlags = @convention(c) @Sendable (OpaquePointer?, UInt32) -> Void
        typealias SetMode = @convention(c) @Sendable (OpaquePointer?, Int32, OpaquePointer?) -> Void
        typealias SetText = @convention(c) @Sendable (OpaquePointer?, UnsafePointer<CChar>) -> Int32
        typealias SetFile =
            @convention(c) @Sendable (OpaquePointer?, UnsafePointer<CChar>, Int32) -> Int32
        typealias SetLocations =
            @convention(c) @Sendable (
                OpaquePointer?, UnsafePointer<CChar>, UnsafePointer<CChar>?
            ) -> Int32
        typealias AskPassphrase =
            @convention(c) @Sendable (
                UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?
            ) -> Int32
        typealias SetAskPassphrase =
            @convention(c) @Sendable (OpaquePointer?, AskPassphrase) -> Void
        typealias SetStreams =
            @convention(c) @Sendable (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Void
        typealias Read =
            @convention(c) @Sendable (OpaquePointer?, UnsafeMutableRawPointer?, Int32) -> Int32
        typealias Write =
            @convention(c) @Sendable (OpaquePointer?, UnsafeRawPointer?, Int32) -> Int32
        typealias Explain = @convention(c) @Sendable (OpaquePointer?, Int32) -> Int32
        typealias ErrorCode = @convention(c) @Sendable () -> UInt
        typealias ErrorText = @convention(c) @Sendable (UInt) -> UnsafePointer<CChar>?
        typealias VerificationText = @convention(c) @Sendable (Int) -> UnsafePointer<CChar>?
        typealias Clear = @convention(c) @Sendable () -> Void

        // Contexts.
        let clientMethod: Method
        let makeContext: Get
        let freeContext: Free
        let controlContext: Control
        let setContextOptions: SetOptions
        let setVerification: SetMode
        let useDefaultAuthorities: Test
        let loadAuthorities: SetLocations
        let useCertificateChain: SetText
        let usePrivateKey: SetFile
        let checkPrivateKey: Test
        let setAskPassphrase: SetAskPassphrase
        // Connections.
        let makeConnection: Get
        let freeConnection: Free
        let control: Control
        let setHost: SetText
        let parameters: Get
        let setAddress: SetText
        let setHostFlags: SetFlags
        let setStreams: SetStreams
        let connect: Test
        let read: Read
        let write: Write
        let explain: Explain
        let verifyResult: Count
        // Streams in memory.
        let memoryMethod: Method
        let makeStream: Get
        let freeStream: Test
        let readStream: Read
        let writeStream: Write
        let streamSize: Count
        // Errors, in a queue of each thread.
        let nextError: ErrorCode
        let errorText: ErrorText
        let verificationText: VerificationText
        let clearErrors: Clear

        /// `nil` if no OpenSSL is installed that has all functions.
        static let installed: OpenSSL? = {
            #if os(Linux)
                let library = SharedLibrary.openSSL()
                library?.skipOpenSSLCleanup()
                return library.flatMap(OpenSSL.init)
            #else
                return nil
            #endif
        }()

        #if os(Linux)
            init?(_ library: SharedLibrary) {
                guard let clientMethod: Method = library.function("TLS_client_method"),
                    let makeContext: Get = library.function("SSL_CTX_new"),
                    let freeContext: Free = library.function("SSL_CTX_free"),
                    let controlContext: Control = library.function("SSL_CTX_ctrl"),
                    let setContextOptions: SetOptions = library.function("SSL_CTX_set_options"),
                    let setVerification: SetMode = library.function("SSL_CTX_set_verify"),
                    let useDefaultAuthorities: Test =
                        library.function("SSL_CTX_set_default_verify_paths"),
                    let loadAuthorities: SetLocations =
                        library.function("SSL_CTX_load_verify_locations"),
                    let useCertificateChain: SetText =
                        library.function("SSL_CTX_use_certificate_chain_file"),
                    let usePrivateKey: SetFile = library.function("SSL_CTX_use_PrivateKey_file"),
                    let checkPrivateKey: Test = library.function("SSL_CTX_check_private_key"),
                    let setAskPassphrase: SetAskPassphrase =
                        library.function("SSL_CTX_set_default_passwd_cb")
                else { return nil }
                guard let makeConnection: Get = library.function("SSL_new"),
                    let freeConnection: Free = library.function("SSL_free"),
                    let control: Control = library.function("SSL_ctrl"),
                    let setHost: SetText = library.function("SSL_set1_host"),
                    let parameters: Get = library.function("SSL_get0_param"),
                    let setAddress: SetText = library.function("X509_VERIFY_PARAM_set1_ip_asc"),
                    let setHostFlags: SetFlags =
                        library.function("X509_VERIFY_PARAM_set_hostflags"),
                    let setStreams: SetStreams = library.function("SSL_set_bio"),
                    let connect: Test = library.function("SSL_connect"),
                    let read: Read = library.function("SSL_read"),
                    let write: Write = library.function("SSL_write"),
                    let explain: Explain = library.function("SSL_get_error"),
                    let verifyResult: Count = library.function("SSL_get_verify_result")
                else { return nil }
                guard let memoryMethod: Method = library.function("BIO_s_mem"),
                    let makeStream: Get = library.function("BIO_new"),
                    let freeStream: Test = library.function("BIO_free"),
                    let readStream: Read = library.function("BIO_read"),
                    let writeStream: Write = library.function("BIO_write"),
                    let streamSize: Count = library.function("BIO_ctrl_pending"),
                    let nextError: ErrorCode = library.function("ERR_get_error"),
                    let errorText: ErrorText = library.function("ERR_reason_error_string"),
                    let verificationText: VerificationText =
                        library.function("X509_verify_cert_error_string"),
                    let clearErrors: Clear = library.function("ERR_clear_error")
                else { return nil }
                self.clientMethod = clientMethod
                (self.makeContext, self.freeContext) = (makeContext, freeContext)
                self.controlContext = controlContext
                self.setContextOptions = setContextOptions
                self.setVerification = setVerification
                self.useDefaultAuthorities = useDefaultAuthorities
                self.loadAuthorities = loadAuthorities
                self.useCertificateChain = useCertificateChain
                (self.usePrivateKey, self.checkPrivateKey) = (usePrivateKey, checkPrivateKey)
                self.setAskPassphrase = setAskPassphrase
                (self.makeConnection, self.freeConnection) = (makeConnection, freeConnection)
                (self.control, self.setHost, self.setAddress) = (control, setHost, setAddress)
                (self.parameters, self.setHostFlags) = (parameters, setHostFlags)
                (self.setStreams, self.connect) = (setStreams, connect)
                (self.read, self.write, self.explain) = (read, write, explain)
                self.verifyResult = verifyResult
                (self.memoryMethod, self.makeStream) = (memoryMethod, makeStream)
                (self.freeStream, self.readStream) = (freeStream, readStream)
                (self.writeStream, self.streamSize) = (writeStream, streamSize)
                (self.nextError, self.errorText) = (nextError, errorText)
                (self.verificationText, self.clearErrors) = (verificationText, clearErrors)
            }
        #endif

        /// The first error of the thread's queue, as OpenSSL's number and text; empties the queue.
        func takeError() -> (code: UInt, text: String) {
            let code = nextError()
            clearErrors()
            guard code != 0 else { return (0, "unknown error") }
            return (code, errorText(code).map { String(cString: $0) } ?? "error \(code)")
        }
    }
#endif
