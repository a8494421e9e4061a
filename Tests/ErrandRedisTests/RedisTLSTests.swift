#if Redis && os(Linux)
    import ErrandCore
    import Foundation
    import TestSupport
    import Testing

    @testable import ErrandRedis

    /// Connections with TLS to a real server.
    @Suite(.limited)
    struct RedisTLSTests {
        private let certificates: TestCertificates

        init() async throws { certificates = try await TestCertificates.get() }

        /// The code of the underlying error.
        private func reason(_ error: RequestError?) -> RequestError.Code? {
            (error?.underlying as? RequestError)?.code
        }

        @Test func entriesAreStoredAndRead() async throws {
            let server = try await SecureServer(certificates)
            let store = try server.store()
            for round in 0..<50 {
                try await store.store(entry("\(round)"), for: key("a"))
                #expect(try await store.entry(for: key("a")) == entry("\(round)"))
            }
            #expect(store.problems.isEmpty)
            // Another client without TLS reads the same entry.
            #expect(try await server.redis.store().entry(for: key("a")) == entry("49"))
        }

        @Test func databaseAndPasswordAreUsed() async throws {
            let server = try await SecureServer(certificates, ["--requirepass", "secret"])
            let store = try server.store {
                $0.password = "secret"
                $0.database = 2
            }
            try await store.store(entry("a"), for: key("a"))
            #expect(try await store.entry(for: key("a")) == entry("a"))
            let without = try server.store()
            let error = await failure { _ = try await without.entry(for: key("a")) }
            #expect(error?.message.contains("NOAUTH") == true)
        }

        @Test(arguments: ["127.0.0.1", "localhost"])
        func hostOfTheAddressIsTheNameOfTheServer(host: String) async throws {
            let server = try await SecureServer(certificates, certificate: "address")
            let store = try server.store {
                $0.address = .host(host, port: server.port)
                $0.tls?.serverName = nil
            }
            try await store.store(entry("a"), for: key("a"))
            #expect(try await store.entry(for: key("a")) == entry("a"))
        }

        @Test func finalDotOfTheNameIsIgnored() async throws {
            let server = try await SecureServer(certificates)
            let store = try server.store { $0.tls?.serverName = "good.errand.test." }
            try await store.store(entry("a"), for: key("a"))
        }

        @Test(arguments: [
            ("unknown-root", "unable to get"), ("self-signed", "self"), ("expired", "expired"),
            ("early", "not yet valid"), ("no-intermediate", "unable to get"),
            ("client-only", "purpose"),
        ])
        func untrustedCertificateIsRefused(name: String, text: String) async throws {
            let server = try await SecureServer(certificates, certificate: name)
            let store = try server.store { $0.tls?.serverName = "\(name).errand.test" }
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(error?.code == .storeFailed)
            #expect(reason(error) == .certificateRejected)
            #expect(error?.message.contains("127.0.0.1:\(server.port)") == true)
            #expect(error?.message.contains("not trusted") == true)
            #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("authorityFile") == true)
            #expect(store.takeProblems().count == 1)
            #expect(reason(store.problems.first) == .certificateRejected)
        }

        @Test func systemsAuthoritiesDoNotTrustTheTestsOwn() async throws {
            let server = try await SecureServer(certificates)
            let store = try server.store { $0.tls?.authorityFile = nil }
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(reason(error) == .certificateRejected)
        }

        @Test(arguments: [
            ("good", "other.errand.test"), ("good", "127.0.0.1"), ("address", "127.0.0.2"),
            ("address-as-name", "127.0.0.2"), ("name-in-subject", "name-in-subject.errand.test"),
            ("wildcard-inside", "wild-inside.errand.test"),
        ])
        func certificateOfAnotherNameIsRefused(certificate: String, name: String) async throws {
            let server = try await SecureServer(certificates, certificate: certificate)
            let store = try server.store { $0.tls?.serverName = name }
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(reason(error) == .certificateRejected)
            #expect(error?.message.contains("not valid for \(name)") == true)
            #expect(error?.message.contains("tls.serverName") == true)
        }

        @Test(arguments: ["TLSv1.2", "TLSv1.3"])
        func clientCertificateIsSent(version: String) async throws {
            let server = try await SecureServer(
                certificates, clients: true, ["--tls-protocols", version])
            let right = try server.store {
                $0.tls?.clientCertificateFile = certificates.path("client.pem")
                $0.tls?.clientKeyFile = certificates.path("client.key")
            }
            try await right.store(entry("a"), for: key("a"))
            let inOneFile = try server.store {
                $0.tls?.clientCertificateFile = certificates.path("client-both.pem")
            }
            #expect(try await inOneFile.entry(for: key("a")) == entry("a"))
        }

        @Test(arguments: ["TLSv1.2", "TLSv1.3"], ["none", "client-stranger", "client-expired"])
        func missingOrWrongClientCertificateIsAClearError(
            version: String, name: String
        ) async throws {
            let server = try await SecureServer(
                certificates, clients: true, ["--tls-protocols", version])
            let store = try server.store {
                guard name != "none" else { return }
                $0.tls?.clientCertificateFile = certificates.path(name + ".pem")
                $0.tls?.clientKeyFile = certificates.path(name + ".key")
            }
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(error?.code == .storeFailed)
            // TLS 1.2 has no alert for a missing certificate.
            let isGeneral = version == "TLSv1.2" && name == "none"
            #expect(
                reason(error) == (isGeneral ? .secureConnectionFailed : .clientCertificateRejected),
                "\(error?.message ?? "")")
            #expect(error?.message.contains("refused the") == true)
            #expect(store.takeProblems().count == 1)
        }

        @Test func oldVersionOfTLSIsRefused() async throws {
            let server = try await SecureServer(
                certificates, ["--tls-protocols", "TLSv1.1", "--tls-ciphers", "ALL:@SECLEVEL=0"])
            let store = try server.store()
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(reason(error) == .secureConnectionFailed)
        }

        @Test func portWithoutTLSIsAClearError() async throws {
            let port = try SecureServer.freePort()
            let server = try await SecureServer(certificates, ["--port", "\(port)"])
            // The server waits for the end of a line, which random bytes of TLS may contain.
            let store = try server.store {
                $0.address = .host("127.0.0.1", port: port)
                $0.connectLimit = .milliseconds(500)
            }
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(error?.code == .storeFailed)
            #expect(error?.message.contains("TLS port") == true, "\(error?.message ?? "")")
        }

        @Test func replyWithoutTLSIsAClearError() async throws {
            let listener = try SilentListener(greeting: "-ERR unknown command\r\n")
            var configuration = RedisResponseStore.Configuration(
                address: .host("127.0.0.1", port: listener.port))
            configuration.tls = .init()
            configuration.connectLimit = .seconds(60)
            configuration.commandLimit = .seconds(60)
            let store = try RedisResponseStore(configuration)
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(reason(error) == .secureConnectionFailed)
            #expect(error?.message.contains("does not use TLS") == true)
            #expect(error?.message.contains("TLS port") == true)
        }

        @Test func portWithTLSIsAClearErrorWithoutIt() async throws {
            let server = try await SecureServer(certificates)
            let store = try server.store { $0.tls = nil }
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(error?.code == .storeFailed)
            #expect(error?.message.contains("set `tls`") == true, "\(error?.message ?? "")")
        }

        @Test func killedServerIsUsedAgainAfterItsRestart() async throws {
            let server = try await SecureServer(certificates)
            let store = try server.store()
            try await store.store(entry("a"), for: key("a"))
            await server.redis.kill()
            #expect(try await problemsOfOutage(store).count == 1)
            try await server.redis.start()
            #expect(
                try await eventually {
                    await failure { try await store.store(entry("b"), for: key("a")) } == nil
                })
            #expect(try await store.entry(for: key("a")) == entry("b"))
            #expect(store.takeProblems().isEmpty)
        }

        @Test func renewedFilesAreUsedByTheNextConnections() async throws {
            let server = try await SecureServer(certificates)
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent("errand-authority-\(UUID().uuidString).pem").path
            defer { try? FileManager.default.removeItem(atPath: file) }
            try FileManager.default.copyItem(
                atPath: certificates.path("other-root.pem"), toPath: file)
            let store = try server.store { $0.tls?.authorityFile = file }
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(reason(error) == .certificateRejected)
            try Data("no certificate".utf8).write(to: URL(fileURLWithPath: file))
            #expect(
                try await eventually {
                    let error = await failure { _ = try await store.entry(for: key("a")) }
                    return error?.message.contains("tls.authorityFile cannot be used") == true
                })
            try Data(contentsOf: URL(fileURLWithPath: certificates.path("root.pem")))
                .write(to: URL(fileURLWithPath: file))
            #expect(
                try await eventually {
                    await failure { _ = try await store.entry(for: key("a")) } == nil
                })
        }

        @Test func largeBodyIsStoredAndReadInParts() async throws {
            let server = try await SecureServer(certificates)
            let store = try server.store { $0.maximumMemoryBytes = 0 }
            let body = Data((0..<(RedisResponseStore.partBytes * 20 + 5)).map { UInt8($0 % 127) })
            let large = entry(String(decoding: body, as: UTF8.self), url: "http://test/large")
            try await store.store(large, for: key("a"))
            let opened = try #require(try await store.open(key("a")))
            // Many parts at once, so that the sockets do not accept all bytes.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for part in 0..<20 {
                    group.addTask {
                        let start = part * RedisResponseStore.partBytes
                        let range = start..<(start + RedisResponseStore.partBytes)
                        let found = try await opened.body.bytes(in: range)
                        #expect(found == body[range])
                    }
                    group.addTask {
                        try await store.store(large, for: key("b\(part % 3)"))
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.entry(for: key("a")) == large)
            #expect(try await store.entry(for: key("b0")) == large)
            #expect(store.problems.isEmpty)
        }

        @Test func concurrentCommandsReceiveTheirOwnReplies() async throws {
            let server = try await SecureServer(certificates)
            let store = try server.store { $0.maximumMemoryBytes = 0 }
            for number in 0..<8 {
                try await store.store(entry("\(number)"), for: key("\(number)"))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<8 {
                    group.addTask {
                        for round in 0..<200 {
                            let name = "\((caller + round) % 8)"
                            let found = try await store.entry(for: key(name))
                            #expect(found == entry(name))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test func removalIsVisibleToOtherStores() async throws {
            let server = try await SecureServer(certificates)
            let one = try server.store()
            let other = try server.store()
            for _ in 0..<10 {
                try await one.store(entry("a"), for: key("a"))
                #expect(
                    try await eventually {
                        let hits = other.memory.hits
                        _ = try await other.entry(for: key("a"))
                        return other.memory.hits > hits
                    })
                try await one.remove(key("a"))
                #expect(try await eventually { try await other.entry(for: key("a")) == nil })
            }
        }

        @Test func pausedServerIsBypassed() async throws {
            let server = try await SecureServer(certificates)
            let store = try server.store {
                $0.commandLimit = .milliseconds(50)
                $0.maximumMemoryBytes = 0
            }
            #expect(
                try await eventually {
                    await failure { try await store.store(entry("a"), for: key("a")) } == nil
                })
            _ = store.takeProblems()
            try await server.redis.console().run("CLIENT", "PAUSE", "100000", "ALL")
            let first = await failure { _ = try await store.entry(for: key("a")) }
            #expect(first?.message.contains("no reply within 50 ms") == true)
            for _ in 0..<100 {
                let later = await failure { _ = try await store.entry(for: key("a")) }
                #expect((later?.underlying as? RedisFailure)?.kind == .bypassed)
            }
            #expect(store.takeProblems().count == 1)
        }

        @Test func stalledHandshakeIsBypassed() async throws {
            let listener = try SilentListener(greeting: nil)
            var configuration = RedisResponseStore.Configuration(
                address: .host("127.0.0.1", port: listener.port))
            configuration.tls = .init()
            configuration.connectLimit = .seconds(60)
            configuration.commandLimit = .milliseconds(50)
            let store = try RedisResponseStore(configuration)
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(error?.message.contains("no connection within 50 ms") == true)
            let next = await failure { _ = try await store.entry(for: key("a")) }
            #expect((next?.underlying as? RedisFailure)?.kind == .bypassed)
            // The limit of a step ends it.
            configuration.connectLimit = .milliseconds(100)
            configuration.commandLimit = .seconds(60)
            let patient = try RedisResponseStore(configuration)
            let late = await failure { _ = try await patient.entry(for: key("a")) }
            #expect(late?.message.contains("no TLS handshake within 100 ms") == true)
        }

        @Test func connectionThatEndsDuringTheHandshakeIsAClearError() async throws {
            let listener = try SilentListener(greeting: "", closes: true)
            var configuration = RedisResponseStore.Configuration(
                address: .host("127.0.0.1", port: listener.port))
            configuration.tls = .init()
            configuration.connectLimit = .seconds(60)
            configuration.commandLimit = .seconds(60)
            let store = try RedisResponseStore(configuration)
            let error = await failure { _ = try await store.entry(for: key("a")) }
            #expect(error?.message.contains("during the TLS handshake") == true)
            #expect(store.takeProblems().count == 1)
        }
    }
#endif
