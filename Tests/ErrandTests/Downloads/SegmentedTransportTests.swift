import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// One file in parallel ranges over real connections, in processes that are killed.
@Suite(.limited) final class SegmentedTransportTests: Sendable {
    private static let content: Data = {
        // A period that no range begins with.
        let block = Data((0..<251).map { UInt8($0) })
        var data = Data()
        while data.count < 4 << 20 { data.append(block) }
        return data.prefix(4 << 20)
    }()
    private static let digest = SHA256.hex(content)
    /// The number of bytes after which each response waits for the gate.
    private static let piece = (4 << 20) / (7 * kills)
    /// The number of processes that are killed; more of them every night.
    private static let kills =
        ProcessInfo.processInfo.environment["ERRAND_KILLS"].flatMap(Int.init) ?? 10
    /// The size of the send buffers, and of the steps of a response.
    private static let step = 16 << 10
    /// What the server may have sent in one response before it notices that a client needs no more.
    ///
    /// It is a step, the send buffer, which Linux doubles, the receive buffer of the client, which has 128 KiB until the
    /// sender fills it, and one read of up to 256 KiB.
    ///
    /// The URLSession of Linux has no such bound: it reads from a connection at its own pace, whether its delegate has
    /// returned from the last call or not.
    private static func buffer(_ kind: TransportKind) -> Int64? {
        kind == .urlSession ? nil : Int64(3 * step + (128 + 256) << 10)
    }

    private let folder: URL
    private let server = LoopbackServer(sendBuffer: step)
    private let gate = Gate()

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-segmented-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let resource = LoopbackResource(Self.content, etag: "\"v1\"")
        server.route("/f.bin") { [gate] request in
            var response = resource.response(to: request)
            response.steps = response.steps.flatMap { step -> [LoopbackResponse.Step] in
                guard case .body(let bytes) = step else { return [step] }
                var steps: [LoopbackResponse.Step] = [.body(bytes.prefix(Self.piece)), .hold(gate)]
                // In small steps, because the server counts complete ones.
                var rest = bytes.dropFirst(Self.piece)
                while !rest.isEmpty {
                    steps.append(.body(Data(rest.prefix(Self.step))))
                    rest = rest.dropFirst(Self.step)
                }
                return steps
            }
            return response
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func present(in folder: String) -> Int64 {
        (try? DownloadPlan.parts(in: URL(fileURLWithPath: folder)))?.first?.bytes ?? 0
    }

    private static func agent(_ kind: TransportKind) -> RequestAgent {
        RequestAgent(configuration: Configuration(), transport: kind.makeTransport(), store: nil)
    }

    private static func download(
        _ url: String, to folder: String, digest: String? = nil
    ) -> RequestDescription {
        var description = RequestDescription(endpoint: "Download", url: EndpointURL(raw: url))
        description.download = .to(URL(fileURLWithPath: folder + "/f.bin")) {
            $0.sha256 = digest
            ($0.segments, $0.minimumSegmentSize) = (4, 16 << 10)
        }
        // The server sends nothing more until the gate opens.
        description.timeouts = Timeouts(connect: nil, idle: nil)
        return description
    }

    private func expectFile(_ response: Response, resumedAt offset: Int64) throws {
        #expect(response.statusCode == 200 && response.headers[.contentRange] == nil)
        let file = try #require(response.downloadedFile)
        #expect(file.bytes == Int64(Self.content.count) && file.resumedOffset == offset)
        #expect(file.digests == [.sha256(Self.digest)])
        #expect(try haveSameBytes(Data(contentsOf: file.file), Self.content))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["f.bin"])
    }

    @Test(arguments: TransportKind.allCases)
    func fileArrivesInParallelRanges(kind: TransportKind) async throws {
        try await server.start()
        let task = Self.agent(kind).start(
            Self.download(server.url("/f.bin"), to: folder.path, digest: Self.digest))
        // The responses wait after their first bytes, so that all requests are made.
        while server.requests.count < 4 { await Task.yield() }
        gate.open()
        try expectFile(try await task.response(), resumedAt: 0)
        let ranges = server.requests.map { $0.header("Range") }
        #expect(ranges.count { $0 == nil } == 1 && Set(ranges).count == ranges.count)
        #expect(
            server.requests.allSatisfy {
                ($0.header("If-Range") == "\"v1\"") == ($0.header("Range") != nil)
            })
        let cut = Int64(server.requests.count)
        if let buffer = Self.buffer(kind) {
            #expect(server.status.bytesSent <= Int64(Self.content.count) + cut * buffer)
        }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func suspendedDownloadContinuesAllItsRequests(kind: TransportKind) async throws {
        try await server.start()
        let task = Self.agent(kind).start(
            Self.download(server.url("/f.bin"), to: folder.path, digest: Self.digest))
        while server.requests.count < 4 { await Task.yield() }
        task.suspend()
        gate.open()
        task.resume()
        task.suspend()
        task.resume()
        try expectFile(try await task.response(), resumedAt: 0)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases, [true, false])
    func cancelledDownloadKeepsOrDiscardsThePart(kind: TransportKind, discards: Bool) async throws {
        try await server.start()
        let task = Self.agent(kind).start(
            Self.download(server.url("/f.bin"), to: folder.path, digest: Self.digest))
        while Self.present(in: folder.path) < Self.piece { await Task.yield() }
        task.cancel(discardingPart: discards)
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.isEmpty == discards, "\(names)")
        gate.open()
        await server.stop()
    }

    #if os(Linux)
        /// While another process downloads the file in ranges, this one is refused; after its end, it continues.
        @Test(arguments: TransportKind.allCases)
        func anotherProcessKeepsTheDestinationUntilItsEnd(kind: TransportKind) async throws {
            if let role = TestProcess.role {
                guard let url = role["url"], let folder = role["folder"],
                    role["kind"] == kind.rawValue
                else { return }
                let task = Self.agent(kind).start(Self.download(url, to: folder))
                while Self.present(in: folder) < 4 * Self.piece { await Task.yield() }
                withExtendedLifetime(task) { TestProcess.waitToBeKilled() }
            }
            try await server.start()
            let other = try TestProcess(
                running: "SegmentedTransportTests/anotherProcessKeepsTheDestinationUntilItsEnd",
                as: ["url": server.url("/f.bin"), "folder": folder.path, "kind": kind.rawValue])
            try #require(await other.isReady(), "\(other.output)")
            let count = server.requests.count
            let busy = await #expect(throws: RequestError.self) {
                try await Self.agent(kind).start(
                    Self.download(server.url("/f.bin"), to: folder.path)
                ).response()
            }
            #expect(busy?.code == .fileFailed && busy?.message.contains("Another") == true)
            let ranges = server.requests.map { $0.header("Range") ?? "whole" }
            #expect(count == 4 && ranges.count == count, "\(ranges)")
            #expect(await other.killed() == .signal(SIGKILL))
            gate.open()
            let response = try await Self.agent(kind).start(
                Self.download(server.url("/f.bin"), to: folder.path, digest: Self.digest)
            ).response()
            try expectFile(response, resumedAt: Int64(4 * Self.piece))
            await server.stop()
        }
    #endif

    /// Each child is killed as soon as it sees a random number of new bytes, while its requests write more.
    @Test(arguments: TransportKind.allCases)
    func processesKilledAtRandomPointsLoseNothing(kind: TransportKind) async throws {
        try await server.start()
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var before: Int64 = 0
        for round in 1...Self.kills {
            let count = before + Int64.random(in: 1..<Int64(Self.piece), using: &random)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    url = server.url("/f.bin") as String, folder = folder.path as String,
                    kind = kind as TransportKind, count = count as Int64,
                ] in
                let agent = SegmentedTransportTests.agent(kind)
                let task = agent.start(SegmentedTransportTests.download(url, to: folder))
                Task {
                    _ = try? await task.response()
                    exit(EXIT_FAILURE)
                }
                while SegmentedTransportTests.present(in: folder) < count { await Task.yield() }
                kill(getpid(), SIGKILL)
            }
            let present = Self.present(in: folder.path)
            #expect(present >= count, "seed \(seed), round \(round)")
            before = present
        }
        gate.open()
        // The responses to the processes that were killed end as soon as the server writes to them.
        try await server.until { $0.open == 0 }
        let (sent, requests) = (server.status.bytesSent, server.status.requests)
        let response = try await Self.agent(kind).start(
            Self.download(server.url("/f.bin"), to: folder.path, digest: Self.digest)
        ).response()
        try expectFile(response, resumedAt: before)
        let missing = Int64(Self.content.count) - before
        if let buffer = Self.buffer(kind) {
            let status = server.status
            let cut = Int64(status.requests - requests)
            #expect(
                status.bytesSent - sent <= missing + cut * buffer,
                "seed \(seed): sent \(status.bytesSent - sent) of \(missing) in \(cut) responses")
        }
        await server.stop()
    }
}
