import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Results, names and digests of downloads over real connections, with each transport.
@Suite(.limited) final class DownloadedFileTransportTests: Sendable {
    private static let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private let folder: URL
    private let server = LoopbackServer()

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-downloaded-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private class FolderDownload: BaseRequest, FileOutput {
        let address: String
        let download: DownloadPlan

        init(_ address: String, into folder: URL, _ change: (inout DownloadPlan) -> Void) {
            self.address = address
            download = .to(folder, change)
        }

        override var url: EndpointURL { EndpointURL(raw: address) }
    }

    private func download(
        _ path: String, _ kind: TransportKind,
        _ change: (inout DownloadPlan) -> Void = { _ in }
    ) async throws -> DownloadedFile {
        let agent = RequestAgent(
            configuration: Configuration(), transport: kind.makeTransport(), store: nil)
        return try await FolderDownload(server.url(path), into: folder, change).value(on: agent)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test(arguments: TransportKind.allCases)
    func fileHasNameAndDigestOfTheResponse(kind: TransportKind) async throws {
        let digest = Data(SHA512.digest(Self.content)).base64EncodedString()
        server.route("/f") { _ in
            LoopbackResponse(
                headers: [
                    "Content-Disposition": "attachment; filename*=UTF-8''..%2Fna%C3%AFve.bin",
                    "Content-Type": "application/x-test", "Repr-Digest": "sha-512=:\(digest):",
                ], body: Self.content)
        }
        try await server.start()
        let file = try await download("/f?token=1", kind) { $0.computedDigests = [.md5] }
        #expect(try names() == ["naïve.bin"] && file.file.lastPathComponent == "naïve.bin")
        #expect(file.bytes == 300_000 && file.contentType == "application/x-test")
        #expect(file.digest(.sha512)?.hex == SHA512.hex(Self.content))
        #expect(file.digest(.md5)?.hex == MD5.hex(Self.content))
        #expect(try haveSameBytes(Data(contentsOf: file.file), Self.content))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func fileHasTheNameOfTheFinalURL(kind: TransportKind) async throws {
        server.route("/latest") { _ in
            LoopbackResponse(status: 302, headers: ["Location": "/files/tool-2.0.tar"])
        }
        server.route("/files/tool-2.0.tar") { _ in LoopbackResponse(body: Self.content) }
        try await server.start()
        let file = try await download("/latest", kind)
        #expect(file.suggestedName == "tool-2.0.tar")
        #expect(try names() == ["tool-2.0.tar"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func wrongDigestAndTooLongBodyLeaveNothing(kind: TransportKind) async throws {
        server.route("/wrong") { _ in
            LoopbackResponse(
                headers: ["Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="], body: Self.content)
        }
        // The head is enough: the body may never begin.
        for (path, next) in [
            ("/long", LoopbackResponse.Step.body(Data(count: 10))), ("/silent", .hold(Gate())),
        ] {
            server.route(path) { _ in
                let length = LoopbackHeader("Content-Length", "\(1 << 60)")
                return LoopbackResponse(
                    steps: [.head(status: 200, headers: [length]), next], keepsConnection: false)
            }
        }
        try await server.start()
        let mismatch = await #expect(throws: RequestError.self) {
            try await download("/wrong", kind)
        }
        #expect(mismatch?.code == .digestMismatch)
        for path in ["/long", "/silent"] {
            let long = await #expect(throws: RequestError.self) { try await download(path, kind) }
            #expect(long?.code == .insufficientSpace)
        }
        #expect(try names() == [])
        await server.stop()
    }
}
