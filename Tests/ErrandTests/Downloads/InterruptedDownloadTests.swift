import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Downloads over real connections, in processes that are killed.
@Suite(.limited) final class InterruptedDownloadTests: Sendable {
    private static let content = Data(
        (0..<1_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) })
    private static let digest = SHA256.hex(content)
    /// The number of bytes that the server sends before it waits.
    private static let piece = 200_000

    private let folder: URL
    private let server = LoopbackServer()
    /// While it is closed, each response stops after one piece.
    private let gate = Gate()
    /// The `Range` of each expected request, in order; the server refuses all others.
    private let expected = Mutex<[String?]>([])

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-interrupted-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let resource = LoopbackResource(Self.content, etag: "\"v1\"")
        server.route("/f.bin") { [weak self, gate] request in
            guard self?.isExpected(request) == true else { return LoopbackResponse(status: 409) }
            var response = resource.response(to: request)
            response.steps = response.steps.flatMap { step -> [LoopbackResponse.Step] in
                guard case .body(let bytes) = step else { return [step] }
                return [
                    .body(bytes.prefix(Self.piece)), .hold(gate),
                    .body(Data(bytes.dropFirst(Self.piece))),
                ]
            }
            return response
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func isExpected(_ request: LoopbackRequest) -> Bool {
        expected.withLock { expected in
            guard !expected.isEmpty else { return false }
            return expected.removeFirst() == request.header("Range")
        }
    }

    private static func size(of path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }

    private static func download(_ url: String, to folder: String) -> RequestDescription {
        var description = RequestDescription(endpoint: "Download", url: EndpointURL(raw: url))
        description.download = .to(URL(fileURLWithPath: folder + "/f.bin")) { $0.sha256 = digest }
        // The server stops to send until the test goes on.
        description.timeouts = Timeouts(connect: nil, idle: nil)
        return description
    }

    private static func agent(_ kind: TransportKind) -> RequestAgent {
        RequestAgent(
            configuration: Configuration(), transport: kind.makeTransport(), store: nil)
    }

    /// Starts the download in a child process, and returns when the part file has this number of bytes.
    private static func startDownload(
        _ url: String, to folder: String, _ kind: TransportKind, untilPartHas count: Int
    ) async -> RequestAgent {
        let agent = agent(kind)
        let task = agent.start(download(url, to: folder))
        Task {
            // A download that ends is a failure of the test.
            _ = try? await task.response()
            exit(EXIT_FAILURE)
        }
        while size(of: folder + "/.f.bin.errand-part") < count { await Task.yield() }
        return agent
    }

    private func finish(_ kind: TransportKind) async throws {
        gate.open()
        let response = try await Self.agent(kind).start(
            Self.download(server.url("/f.bin"), to: folder.path)
        ).response()
        #expect(response.statusCode == 200 && response.headers[.contentRange] == nil)
        let file = try #require(response.downloadedFile)
        #expect(file.bytes == Int64(Self.content.count) && file.resumedOffset > 0)
        #expect(file.digests == [.sha256(Self.digest)])
        #expect(try haveSameBytes(Data(contentsOf: #require(response.file)), Self.content))
        #expect(expected.withLock { $0.isEmpty })
        #expect(server.requests.last?.header("If-Range") == "\"v1\"")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["f.bin"])
        await server.stop()
    }

    #if os(Linux)
        /// Another process downloads a part; the test then kills it and downloads the rest.
        @Test(arguments: TransportKind.allCases)
        func nextProcessDownloadsTheRest(kind: TransportKind) async throws {
            if let role = TestProcess.role {
                guard let url = role["url"], let folder = role["folder"],
                    role["kind"] == kind.rawValue
                else { return }
                let agent = await Self.startDownload(
                    url, to: folder, kind, untilPartHas: Self.piece)
                withExtendedLifetime(agent) { TestProcess.waitToBeKilled() }
            }
            expected.withLock { $0 = [nil] }
            try await server.start()
            let other = try TestProcess(
                running: "InterruptedDownloadTests/nextProcessDownloadsTheRest",
                as: [
                    "url": server.url("/f.bin"), "folder": folder.path, "kind": kind.rawValue,
                ])
            try #require(await other.isReady(), "\(other.output)")
            let busy = await #expect(throws: RequestError.self) {
                try await Self.agent(kind).start(
                    Self.download(server.url("/f.bin"), to: folder.path)
                ).response()
            }
            #expect(busy?.code == .fileFailed)
            #expect(server.requests.count == 1)
            #expect(await other.killed() == .signal(SIGKILL))
            expected.withLock { $0 = ["bytes=200000-"] }
            try await finish(kind)
        }
    #endif

    /// Each child downloads one piece and kills itself.
    @Test(arguments: TransportKind.allCases)
    func severalProcessesDownloadOneFile(kind: TransportKind) async throws {
        expected.withLock {
            $0 = [nil, "bytes=200000-", "bytes=400000-", "bytes=600000-"]
        }
        try await server.start()
        for round in 1...3 {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    url = server.url("/f.bin") as String, folder = folder.path as String,
                    kind = kind as TransportKind, count = round * Self.piece as Int,
                ] in
                let agent = await InterruptedDownloadTests.startDownload(
                    url, to: folder, kind, untilPartHas: count)
                withExtendedLifetime(agent) { _ = kill(getpid(), SIGKILL) }
            }
        }
        #expect(server.requests.count == 3)
        try await finish(kind)
    }
}
