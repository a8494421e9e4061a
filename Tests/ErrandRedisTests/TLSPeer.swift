#if Redis && os(Linux)
    import ErrandHTTP
    import ErrandOpenSSL
    import Foundation
    import Testing

    @testable import ErrandRedis

    /// A link with TLS, and the server at the other end of its socket, which the test controls.
    final class TLSPeer {
        /// The functions that only a server, or only a test, needs.
        private final class Functions: FunctionGroup {
            typealias Update = @convention(c) (OpenSSL.Object?, Int32) -> Int32

            let TLS_server_method: OpenSSL.Make
            let SSL_accept: OpenSSL.Act
            let SSL_key_update: Update

            init(_ find: FunctionFinder) throws(MissingFunction) {
                TLS_server_method = try find("TLS_server_method")
                SSL_accept = try find("SSL_accept")
                SSL_key_update = try find("SSL_key_update")
            }
        }

        let link: RedisLink
        private let openSSL: TLSFunctions
        private let functions: Functions
        private let context: OpenSSL.Object
        private let connection: OpenSSL.Object
        private let input: OpenSSL.Object
        private let output: OpenSSL.Object
        private let descriptor: Int32

        /// Connects and performs the handshake.
        init(_ certificates: TestCertificates) throws {
            let library = try #require(OpenSSL.installed())
            openSSL = try TLSFunctions(library)
            functions = try library.functions()
            let (contexts, streams) = (openSSL.contexts, openSSL.streams)
            context = try #require(contexts.SSL_CTX_new(functions.TLS_server_method()))
            _ = contexts.SSL_CTX_use_certificate_chain_file(context, certificates.path("good.crt"))
            _ = contexts.SSL_CTX_use_PrivateKey_file(context, certificates.path("good.key"), 1)
            connection = try #require(openSSL.connections.SSL_new(context))
            input = try #require(streams.BIO_new(streams.BIO_s_mem()))
            output = try #require(streams.BIO_new(streams.BIO_s_mem()))
            openSSL.connections.SSL_set_bio(connection, input, output)

            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
                throw POSIXError(.EMFILE)
            }
            descriptor = ends[1]
            var settings = RedisResponseStore.TLS()
            settings.authorityFile = certificates.path("root.pem")
            let session = try #require(
                TLSSession(try TLSContext(settings, openSSL), name: "good.errand.test"))
            link = try #require(RedisLink(descriptor: ends[0], tls: session))

            var isComplete = false
            while try !link.handshake() || !isComplete {
                receive()
                isComplete = functions.SSL_accept(connection) == 1
                send(takeOutput())
            }
        }

        deinit {
            openSSL.connections.SSL_free(connection)
            openSSL.contexts.SSL_CTX_free(context)
            close(descriptor)
        }

        /// Takes what has arrived from the socket.
        private func receive() {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { return }
                _ = openSSL.transfers.BIO_write(input, buffer, Int32(count))
            }
        }

        private func takeOutput() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: openSSL.streams.BIO_ctrl_pending(output))
            guard !bytes.isEmpty else { return [] }
            _ = openSSL.transfers.BIO_read(output, &bytes, Int32(bytes.count))
            return bytes
        }

        /// Encrypts a reply.
        func encrypted(_ text: String) -> [UInt8] {
            let bytes = Array(text.utf8)
            #expect(
                openSSL.transfers.SSL_write(connection, bytes, Int32(bytes.count)) == bytes.count)
            return takeOutput()
        }

        /// Sends bytes as they are.
        func send(_ bytes: [UInt8]) {
            let count = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            #expect(count == bytes.count)
        }

        /// The decrypted bytes that have arrived; empty also after an error.
        func received() -> [UInt8] {
            receive()
            var result: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while true {
                let count = openSSL.transfers.SSL_read(connection, &buffer, Int32(buffer.count))
                guard count > 0 else { return result }
                result += buffer[..<Int(count)]
            }
        }

        /// New keys, which the other end must use as well; their message precedes the next reply.
        func updateKeys() throws {
            // SSL_KEY_UPDATE_REQUESTED
            #expect(functions.SSL_key_update(connection, 1) == 1)
        }

        /// The message close_notify.
        func notice() throws -> [UInt8] {
            _ = openSSL.transfers.SSL_shutdown(connection)
            return takeOutput()
        }
    }
#endif
