import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandUploads

/// The requests that receive the credentials of an upload, and the data that its journal keeps.
@Suite(.limited)
struct UploadCredentialsTests {
    private let fixture: UploadFixture

    init() async throws { fixture = try await UploadFixture() }

    @Test(arguments: TransportKind.allCases)
    func credentialsAreNotSentToAnotherOrigin(kind: TransportKind) async throws {
        let other = try await TusLoopback()
        other.change { ($0.length, $0.creations) = (10_000, 1) }
        let location = other.server.url("/files/1")
        fixture.tus.fault { _, request, _ in
            request.method == "POST"
                ? LoopbackResponse(status: 201, headers: ["Location": location]) : nil
        }
        _ = try await fixture.upload {
            $0.key = .bearer("secret")
            $0.fields = [.userAgent: "test"]
        }.value(on: fixture.agent(over: kind))
        #expect(haveSameBytes(other.content, fixture.bytes))
        #expect(
            fixture.tus.server.requests.map { $0.header("Authorization") }
                == ["Bearer secret", "Bearer secret"])
        #expect(other.server.requests.map { $0.header("Authorization") } == [nil])
        #expect(other.server.requests.first?.header("User-Agent") == "test")
        await other.server.stop()
        await fixture.tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func everyRequestIsAuthorizedAndProcessed(kind: TransportKind) async throws {
        let upload = fixture.upload {
            $0.key = .bearer("secret")
            $0.signers = [Signer().process]
            $0.piece = 4000
        }
        _ = try await upload.value(on: fixture.agent(over: kind))
        let requests = fixture.tus.server.requests
        #expect(requests.count == 5)
        #expect(requests.allSatisfy { $0.header("Authorization") == "Bearer secret" })
        #expect(requests.map { $0.header("X-Signed") ?? "" } == requests.map(\.method))
        await fixture.tus.server.stop()
    }

    struct Signer: Sendable {
        func process(
            _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
        ) async throws {
            if let name = HTTPField.Name("X-Signed") {
                request.headers[name] = request.method.rawValue
            }
        }
    }

    @Test func journalContainsNoSecrets() async throws {
        fixture.tus.fault { _, request, _ in request.method == "PATCH" ? .reset : nil }
        let upload = UploadFixture.Upload(
            "\(raw: fixture.tus.url)?token=sesame", file: fixture.file.url)
        upload.policy = RetryPolicy.none
        upload.key = .bearer("secret")
        upload.data = ["filename": "confidential"]
        _ = await fixture.failure(upload)
        let name = try #require(try fixture.names.first { $0.hasSuffix(".errand-upload") })
        let journal = fixture.file.url.deletingLastPathComponent().appendingPathComponent(name)
        let text = try String(contentsOf: journal, encoding: .utf8)
        #expect(text.contains("files"))
        for secret in ["sesame", "secret", "confidential", "Y29uZmlkZW50aWFs"] {
            #expect(!text.contains(secret))
        }
        await fixture.tus.server.stop()
    }
}
