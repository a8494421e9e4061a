import ErrandHTTP
import ErrandTesting
import ErrandUploads
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Resumable uploads to a tus server that is not ours (tuspyserver), over both transports.
@Suite(.limited)
struct TusServerTests {
    private let peers: Peers
    private let folder: URL
    private let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })

    init() throws {
        peers = try Peers.get()
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-tus-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private final class Upload: ResumableUploadRequest {
        var piece: Int64?
        var holding: Holding?
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            if let holding { request.requestProcessors.append(holding.process) }
        }
        override var pieceSize: Int64? { piece }
        // The server requires both.
        override var uploadMetadata: [String: String] {
            ["filename": "weiß.bin", "filetype": "application/octet-stream"]
        }
    }

    /// Holds the piece at an offset.
    private struct Holding: Sendable {
        let offset: String
        let gate: Gate

        func process(
            _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
        ) async throws {
            guard let name = HTTPField.Name("Upload-Offset"), request.headers[name] == offset
            else { return }
            try await gate.passed()
        }
    }

    /// Uploads pieces until the server has a million bytes, then cancels.
    private func cancelAfterAMillionBytes(_ agent: RequestAgent) async throws {
        let upload = try upload(bytes, piece: 500_000)
        let gate = Gate()
        upload.holding = Holding(offset: "1000000", gate: gate)
        let task = agent.start(upload.makeDescription())
        try await gate.reached()
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.isCancellation == true)
    }

    private func upload(_ content: Data, piece: Int64? = nil) throws -> Upload {
        let file = folder.appendingPathComponent("film.bin")
        if (try? Data(contentsOf: file)) != content { try content.write(to: file) }
        let upload = Upload(peers.endpoint(.tus, host: "127.0.0.1", "/files/"), file: file)
        upload.piece = piece
        return upload
    }

    /// The file that the server has stored.
    private func stored(_ output: UploadedFile) throws -> Data {
        let name = try #require(output.url.path.split(separator: "/").last)
        return try Data(contentsOf: URL(fileURLWithPath: "\(peers.folder)/uploads/\(name)"))
    }

    @Test(arguments: HTTPBinTests.TransportKind.allCases, [nil, 700_000] as [Int64?])
    func fileIsStored(kind: HTTPBinTests.TransportKind, piece: Int64?) async throws {
        let agent = try kind.agent()
        let output = try await upload(bytes, piece: piece).value(on: agent)
        #expect(haveSameBytes(try stored(output), bytes))
        #expect(output.expires != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film.bin"])
        try FileManager.default.removeItem(at: folder)
    }

    @Test(arguments: HTTPBinTests.TransportKind.allCases)
    func cancelledUploadIsContinued(kind: HTTPBinTests.TransportKind) async throws {
        let agent = try kind.agent()
        try await cancelAfterAMillionBytes(agent)
        let output = try await upload(bytes).value(on: agent)
        #expect(output.resumedOffset == 1_000_000)
        #expect(haveSameBytes(try stored(output), bytes))
        try FileManager.default.removeItem(at: folder)
    }

    @Test(arguments: HTTPBinTests.TransportKind.allCases)
    func discardedUploadIsRemoved(kind: HTTPBinTests.TransportKind) async throws {
        let agent = try kind.agent()
        try await cancelAfterAMillionBytes(agent)
        #expect(try await upload(bytes).discard(on: agent))
        #expect(try await upload(bytes).value(on: agent).resumedOffset == 0)
        try FileManager.default.removeItem(at: folder)
    }

    @Test(arguments: HTTPBinTests.TransportKind.allCases)
    func fileAboveTheMaximumIsRefused(kind: HTTPBinTests.TransportKind) async throws {
        let agent = try kind.agent()
        let running = try upload(bytes)
        #expect(truncate(running.file.path, 40 << 20) == 0)
        let error = await #expect(throws: RequestError.self) { try await running.value(on: agent) }
        #expect(error?.code == .bodyTooLarge)
        try FileManager.default.removeItem(at: folder)
    }

    @Test(arguments: HTTPBinTests.TransportKind.allCases)
    func uploadOfAnEmptyFileIsComplete(kind: HTTPBinTests.TransportKind) async throws {
        let agent = try kind.agent()
        let output = try await upload(Data()).value(on: agent)
        #expect(output.bytes == 0)
        try FileManager.default.removeItem(at: folder)
    }
}
