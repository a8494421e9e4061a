#if Redis && os(Linux)
    import ErrandCore
    import ErrandOpenSSL
    import Foundation
    import Glibc
    import TestSupport
    import Testing

    @testable import ErrandRedis

    /// Settings of TLS that a store refuses.
    @Suite(.limited)
    struct TLSSettingsTests {
        private let certificates: TestCertificates

        init() async throws { certificates = try await TestCertificates.get() }

        private func refusal(
            _ change: (inout RedisResponseStore.Configuration) -> Void
        ) -> RequestError? {
            var configuration = RedisResponseStore.Configuration(address: .host("cache.test"))
            configuration.tls = .init()
            change(&configuration)
            do throws(RequestError) {
                _ = try RedisResponseStore(configuration)
                return nil
            } catch { return error }
        }

        @Test func filesThatCannotBeUsedAreRefused() throws {
            func expect(
                _ setting: String, _ file: String,
                _ change: (inout RedisResponseStore.Configuration) -> Void
            ) {
                let error = refusal(change)
                #expect(error?.code == .invalidConfiguration)
                let text = error?.message ?? ""
                #expect(text.contains(setting) && text.contains(file), "\(text)")
            }
            #expect(refusal { _ in } == nil)
            for file in [certificates.path("absent.pem"), certificates.path("empty.pem")] {
                expect("tls.authorityFile", file) { $0.tls?.authorityFile = file }
                expect("tls.clientCertificateFile", file) { $0.tls?.clientCertificateFile = file }
                expect("tls.clientKeyFile", file) {
                    $0.tls?.clientCertificateFile = certificates.path("client.pem")
                    $0.tls?.clientKeyFile = file
                }
            }
            // The key of another certificate, and one that has a passphrase.
            for file in [certificates.path("good.key"), certificates.path("client-locked.key")] {
                expect("tls.clientKeyFile", file) {
                    $0.tls?.clientCertificateFile = certificates.path("client.pem")
                    $0.tls?.clientKeyFile = file
                }
            }
            let certificate = certificates.path("client.pem")
            expect("tls.clientKeyFile", certificate) {
                $0.tls?.clientCertificateFile = certificate
            }
        }

        @Test func invalidSettingsAreRefused() {
            #expect(
                refusal { $0.address = .unixSocket("/run/redis.sock") }?.code
                    == .invalidConfiguration)
            #expect(refusal { $0.tls?.serverName = "" }?.code == .invalidConfiguration)
            #expect(refusal { $0.tls?.serverName = "a\0b" }?.code == .invalidConfiguration)
            #expect(refusal { $0.tls?.clientKeyFile = "key" }?.code == .invalidConfiguration)
        }

        /// Also where the system's configuration allows older versions.
        @Test func versionsBeforeTLS12AreRefused() throws {
            let openSSL = try #require(TLSFunctions.installed)
            let context = try TLSContext(RedisResponseStore.TLS(), openSSL)
            let connection = try #require(context.makeConnection())
            defer { openSSL.connections.SSL_free(connection) }
            // SSL_CTRL_GET_MIN_PROTO_VERSION and TLS1_2_VERSION
            #expect(openSSL.connections.SSL_ctrl(connection, 130, 0, nil) == 0x0303)
        }

        @Test func tlsWithoutOpenSSLIsUnsupported() {
            var configuration = RedisResponseStore.Configuration(address: .host("cache.test"))
            configuration.tls = .init()
            let error = #expect(throws: RequestError.self) {
                try RedisResponseStore(configuration, openSSL: nil) { Date() }
            }
            #expect(error?.code == .unsupported)
        }

        /// The loop's thread may use OpenSSL until the process has ended.
        @Test func exitLeavesTheMemoryOfOpenSSLToTheLoop() async {
            await #expect(processExitsWith: .success) {
                _ = try TLSContext(RedisResponseStore.TLS(), try #require(TLSFunctions.installed))
                OpenSSLCleanup.exitReporting()
            }
        }
    }
#endif
