#if Redis && os(Linux)
    import ErrandHTTP
    import Foundation
    import Testing

    @testable import ErrandRedis

    /// A link with TLS, and the server at the other end of its socket, which the test controls.
    final class TLSPeer {
        private typealias Update = @convention(c) (OpaquePointer?, Int32) -> Int32

        let link: RedisLink
        private let openSSL: OpenSSL
        private let library: SharedLibrary
        private let context: OpaquePointer
        private let connection: OpaquePointer
        private let input: OpaquePointer
        private let output: OpaquePointer
        private let descriptor: Int32

        /// Connects and performs the handshake.
        init(_ certificates: TestCertificates) throws {
            library = try #require(SharedLibrary.openSSL())
            openSSL = try #require(OpenSSL(library))
            let method: OpenSSL.Method = try #require(library.function("TLS_server_method"))
            context = try #require(openSSL.makeContext(method()))
            _ = openSSL.useCertificateChain(context, certificates.path("good.crt"))
            _ = openSSL.usePrivateKey(context, certificates.path("good.key"), 1)
            connection = try #require(openSSL.makeConnection(context))
            input = try #require(openSSL.makeStream(openSSL.memoryMethod()))
            output = try #require(openSSL.makeStream(openSSL.memoryMethod()))
            openSSL.setStreams(connection, input, output)

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

            let accept: OpenSSL.Test = try #require(library.function("SSL_accept"))
            var isComplete = false
            while try !link.handshake() || !isComplete {
                receive()
                isComplete = accept(connection) == 1
                send(takeOutput())
            }
        }

        deinit {
            openSSL.freeConnection(connection)
            openSSL.freeContext(context)
            close(descriptor)
        }

        /// Takes what has arrived from the socket.
        private func receive() {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { return }
                _ = openSSL.writeStream(input, buffer, Int32(count))
            }
        }

        private func takeOutput() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: openSSL.streamSize(output))
            guard !bytes.isEmpty else { return [] }
            _ = openSSL.readStream(output, &bytes, Int32(bytes.count))
            return bytes
        }

        /// Encrypts a reply.
        func encrypted(_ text: String) -> [UInt8] {
            let bytes = Array(text.utf8)
            #expect(openSSL.write(connection, bytes, Int32(bytes.count)) == bytes.count)
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
                let count = openSSL.read(connection, &buffer, Int32(buffer.count))
                guard count > 0 else { return result }
                result += buffer[..<Int(count)]
            }
        }

        /// New keys, which the other end must use as well; their message precedes the next reply.
        func updateKeys() throws {
            let update: Update = try #require(library.function("SSL_key_update"))
            // SSL_KEY_UPDATE_REQUESTED
            #expect(update(connection, 1) == 1)
        }

        /// The message close_notify.
        func notice() throws -> [UInt8] {
            let shutdown: OpenSSL.Test = try #require(library.function("SSL_shutdown"))
            _ = shutdown(connection)
            return takeOutput()
        }
    }
#endif
