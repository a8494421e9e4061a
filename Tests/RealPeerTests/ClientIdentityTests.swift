import Errand
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import Glibc
import TestSupport
import Testing

/// Client certificates in every format, and servers that require one.
@Suite("Real peers: client certificates", .limited, .bothVersions)
struct ClientIdentityTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    enum Form: String, CaseIterable, Sendable {
        case files, oneFile, pemFile, encryptedFile, pemText, encryptedText, pkcs12File, pkcs12Data
        case pkcs12WithoutPassword
        case der, encryptedDER
    }

    /// The contents of the first object of a PEM file.
    private func der(_ name: String) throws -> Data {
        let lines = try peers.text(name).split(separator: "\n").drop { !$0.hasPrefix("-----BEGIN") }
        let body = lines.dropFirst().prefix { !$0.hasPrefix("-----END") }.joined()
        return try #require(Data(base64Encoded: body))
    }

    private func policy(_ form: Form) throws -> SecurityPolicy {
        var policy = SecurityPolicy()
        policy.authorityFile = peers.certificate("root.pem")
        let certificate = peers.certificate("client.pem")
        switch form {
        case .files:
            policy.clientCertificateFile = certificate
            policy.clientKeyFile = peers.certificate("client.key")
        case .oneFile:
            policy.clientIdentity = .pem(certificateFile: peers.certificate("client-both.pem"))
        case .pemFile:
            policy.clientIdentity = .pem(
                certificateFile: certificate, keyFile: peers.certificate("client.key"))
        case .encryptedFile:
            policy.clientIdentity = .pem(
                certificateFile: certificate, keyFile: peers.certificate("client-locked.key"),
                password: "secret")
        case .pemText:
            policy.clientIdentity = .pem(
                certificate: try peers.text("client.pem"), key: try peers.text("client.key"))
        case .encryptedText:
            policy.clientIdentity = .pem(
                certificate: try peers.text("client.pem"),
                key: try peers.text("client-locked.key"), password: "secret")
        case .pkcs12File:
            policy.clientIdentity = .pkcs12(
                file: peers.certificate("client.p12"), password: "secret")
        case .pkcs12Data:
            let file = URL(fileURLWithPath: peers.certificate("client.p12"))
            policy.clientIdentity = .pkcs12(try Data(contentsOf: file), password: "secret")
        case .pkcs12WithoutPassword:
            policy.clientIdentity = .pkcs12(
                file: peers.certificate("client-open.p12"), password: "")
        case .der:
            policy.clientIdentity = .der(
                certificate: try der("client.pem"), key: try der("client.key"))
        case .encryptedDER:
            policy.clientIdentity = .der(
                certificate: try der("client.pem"), key: try der("client-locked.key"),
                password: "secret")
        }
        return policy
    }

    private func run(
        _ peer: Peers.Peer, _ policy: SecurityPolicy
    ) async throws -> RecordingReceiver.Record {
        var request = peers.request(peer, peer == .nginxClients ? "/info" : "/index.html")
        request.options.security = policy
        // nghttpd speaks only HTTP/2.
        if peer == .nghttpdClients { request.options.httpVersion = .automatic }
        return try await transport.run(request)
    }

    @Test(arguments: Form.allCases)
    func certificateIsSent(form: Form) async throws {
        let record = try await run(.nginxClients, policy(form))
        #expect(record.error == nil, "\(record.errorText)")
        #expect(record.head?.status == .ok)
        #expect(PeerInfo(record)["client"] == "CN=client")
        let strict = try await run(.nghttpdClients, policy(form))
        #expect(strict.error == nil, "\(strict.errorText)")
    }

    @Test func connectionIsNotReusedWithoutTheIdentity() async throws {
        let shown = try await run(.nginxClients, policy(.pkcs12File))
        #expect(shown.head?.status == .ok)
        // A request without a certificate uses neither that connection nor its TLS session.
        let none = try await transport.run(peers.request(.nginxClients))
        #expect(none.head?.status == .badRequest, "\(none.errorText)")
        #expect(none.end?.timings.reusedConnection == false)
    }

    @Test func missingOrInvalidCertificatesAreRejected() async throws {
        // The server's alert follows the handshake, and the server then resets the connection.
        for _ in 0..<30 {
            let none = try await transport.run(peers.request(.nghttpdClients, "/index.html"))
            #expect(none.error?.code == .clientCertificateRejected, "\(none.errorText)")
            #expect(none.head == nil)
        }
        for name in ["client-expired", "client-stranger"] {
            var policy = SecurityPolicy()
            policy.authorityFile = peers.certificate("root.pem")
            policy.clientIdentity = .pem(
                certificateFile: peers.certificate(name + ".pem"),
                keyFile: peers.certificate(name + ".key"))
            let record = try await run(.nginxClients, policy)
            #expect(record.head?.status == .badRequest, "\(name): \(record.errorText)")
        }
    }

    /// OpenSSL would prompt for the key's password on the terminal and block the event loop.
    @Test func encryptedKeyDoesNotPromptForAPassword() async {
        await #expect(processExitsWith: .success) {
            // A new terminal without input. The alarm ends a process that reads from it.
            alarm(60)
            var (number, lock): (Int32, Int32) = (0, 0)
            let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            guard setsid() >= 0, terminal >= 0,
                ioctl(terminal, 0x4004_5431, &lock) == 0,  // TIOCSPTLCK
                ioctl(terminal, 0x8004_5430, &number) == 0,  // TIOCGPTN
                open("/dev/pts/\(number)", O_RDWR) >= 0, open("/dev/tty", O_RDWR) >= 0
            else { exit(4) }
            let peers = try Peers.get()
            var policy = SecurityPolicy()
            policy.authorityFile = peers.certificate("root.pem")
            policy.clientCertificateFile = peers.certificate("client.pem")
            policy.clientKeyFile = peers.certificate("client-locked.key")
            var request = peers.request(.nginxClients)
            request.options.security = policy
            let record = try await CurlTransport().run(request)
            if record.error?.code != .clientCertificateRejected { exit(3) }
        }
    }

    /// A policy with copies of its files, in a new folder.
    private func copiedPolicy() throws -> (policy: SecurityPolicy, folder: URL) {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func copy(_ name: String) throws -> String {
            let path = folder.appendingPathComponent(name).path
            try FileManager.default.copyItem(atPath: peers.certificate(name), toPath: path)
            return path
        }
        var policy = SecurityPolicy()
        policy.authorityFile = try copy("root.pem")
        policy.clientCertificateFile = try copy("client.pem")
        policy.clientKeyFile = try copy("client.key")
        return (policy, folder)
    }

    /// A file that is removed after the first request, which examined it, is named as the cause, and nothing is sent.
    @Test(arguments: ["root.pem", "client.pem", "client.key"])
    func removedFileIsTheCause(file: String) async throws {
        let (policy, folder) = try copiedPolicy()
        defer { try? FileManager.default.removeItem(at: folder) }
        var request = peers.request(.nginxClients)
        request.options.security = policy
        try transport.check(request)
        let first = try await transport.run(request)
        #expect(first.head?.status == .ok, "\(first.errorText)")

        try FileManager.default.removeItem(at: folder.appendingPathComponent(file))
        let other = CurlTransport()
        try other.check(request)
        let record = try await other.run(request)
        #expect(record.error?.code == .invalidConfiguration, "\(record.errorText)")
        #expect(record.error?.stage == .build)
        #expect(record.error?.message.contains("Could not read \(file), a certificate") == true)
        #expect(record.head == nil)
    }

    /// The error of a request names its endpoint and the file.
    @Test func removedFileFailsTheRequestsOfAnAgent() async throws {
        let (policy, folder) = try copiedPolicy()
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = Configuration()
        configuration.transportOptions = peers.request(.nginxClients).options
        configuration.transportOptions.security = policy
        let endpoint = InlineRequest(peers.endpoint(.nginxClients, host: "good.errand.test")) {
            $0.acceptance.format = .text
        }
        let first = RequestAgent(configuration: configuration, transport: transport, store: nil)
        #expect(try await endpoint.send(on: first).status == .ok)
        await first.shutdown()

        try FileManager.default.removeItem(at: folder.appendingPathComponent("client.key"))
        // Another transport needs a new connection.
        let second = RequestAgent(
            configuration: configuration, transport: CurlTransport(), store: nil)
        let error = await #expect(throws: RequestError.self) { try await endpoint.send(on: second) }
        #expect(error?.code == .invalidConfiguration && error?.stage == .build)
        #expect(error?.message.contains("Could not read client.key, a certificate") == true)
        #expect(error?.endpoint == "InlineRequest")
        await second.shutdown()
    }

    @Test func unusableIdentitiesAreRejected() async throws {
        let wrong: [(identity: ClientIdentity, reason: String)] = [
            (.pkcs12(file: peers.certificate("client.p12"), password: "wrong"), "password of the"),
            (.pkcs12(file: peers.certificate("client.pem"), password: ""), "not a PKCS#12 file"),
            (.pkcs12(Data("no such thing".utf8), password: ""), "not a PKCS#12 file"),
            (
                .pem(
                    certificateFile: peers.certificate("client.pem"),
                    keyFile: peers.certificate("client-locked.key")), "is encrypted"
            ),
            (
                .pem(
                    certificateFile: peers.certificate("client.pem"),
                    keyFile: peers.certificate("client-locked.key"), password: "wrong"),
                "password of the"
            ),
            (
                .pem(
                    certificateFile: peers.certificate("client.pem"),
                    keyFile: peers.certificate("good.key")), "does not belong"
            ),
            (
                .pem(
                    certificateFile: peers.certificate("client.p12"),
                    keyFile: peers.certificate("client.key")), "no certificate in PEM"
            ),
        ]
        for (identity, reason) in wrong {
            var policy = SecurityPolicy()
            policy.authorityFile = peers.certificate("root.pem")
            policy.clientIdentity = identity
            let record = try await run(.nginxClients, policy)
            #expect(
                record.error?.code == .clientCertificateRejected,
                "\(identity): \(record.errorText)")
            #expect(
                record.error?.message.contains(reason) == true, "\(identity): \(record.errorText)")
        }
        var request = peers.request(.nginxClients)
        request.options.security?.clientIdentity = .pkcs12(file: "/nowhere", password: "")
        let missing = #expect(throws: RequestError.self) { try transport.check(request) }
        #expect(missing?.code == .invalidConfiguration)
    }
}
