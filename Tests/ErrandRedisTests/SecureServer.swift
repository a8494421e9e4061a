#if Redis && os(Linux)
    import Foundation

    @testable import ErrandRedis

    /// A Redis server with a TLS port, whose Unix socket serves the commands of the test.
    final class SecureServer: Sendable {
        let redis: RedisServer
        let port: Int
        private let certificates: TestCertificates

        /// - Parameters:
        ///   - certificate: The server's certificate.
        ///   - clients: Whether clients must have a certificate.
        ///   - arguments: Further arguments of `redis-server`.
        init(
            _ certificates: TestCertificates, certificate: String = "good", clients: Bool = false,
            _ arguments: [String] = []
        ) async throws {
            let port = try Self.freePort()
            self.port = port
            self.certificates = certificates
            redis = try await RedisServer(
                [
                    "--tls-port", "\(port)", "--bind", "127.0.0.1",
                    "--tls-cert-file", certificates.path(certificate + ".crt"),
                    "--tls-key-file", certificates.path(certificate + ".key"),
                    "--tls-ca-cert-file", certificates.path("clients-root.pem"),
                    "--tls-auth-clients", clients ? "yes" : "no",
                ] + arguments)
        }

        /// Settings that accept the certificate `good`.
        func configuration(
            _ change: (inout RedisResponseStore.Configuration) -> Void = { _ in }
        ) -> RedisResponseStore.Configuration {
            var configuration = redis.configuration
            configuration.address = .host("127.0.0.1", port: port)
            configuration.tls = .init()
            configuration.tls?.authorityFile = certificates.path("root.pem")
            configuration.tls?.serverName = "good.errand.test"
            change(&configuration)
            return configuration
        }

        /// A store that accepts the certificate `good`.
        func store(
            _ change: (inout RedisResponseStore.Configuration) -> Void = { _ in }
        ) throws -> RedisResponseStore {
            try RedisResponseStore(configuration(change))
        }

        /// A port below those of outgoing connections, which no program uses just now.
        static func freePort() throws -> Int {
            for _ in 0..<100 {
                let port = Int.random(in: 10_000..<32_000)
                let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                defer { close(descriptor) }
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = UInt16(port).bigEndian
                address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
                let isFree = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                    }
                }
                if isFree { return port }
            }
            throw POSIXError(.EADDRINUSE)
        }
    }
#endif
