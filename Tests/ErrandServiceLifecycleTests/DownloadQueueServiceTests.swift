#if ServiceLifecycle
    import ErrandCore
    import ErrandDownloadQueue
    import ErrandServiceLifecycle
    import ErrandTesting
    import ErrandTransport
    import Foundation
    import ServiceLifecycle
    import ServiceLifecycleTestKit
    import TestSupport
    import Testing

    @Suite(.limited) final class DownloadQueueServiceTests: Sendable {
        private let transport = ScriptedTransport()
        private let gate = Gate()
        private let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-service-\(UUID().uuidString)", isDirectory: true)

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private func queue() -> DownloadQueue {
            let agent = RequestAgent(
                configuration: Configuration(), transport: transport, store: nil)
            return DownloadQueue(path: folder.path + "/queue.sqlite", agent: agent)
        }

        /// A queue with a download whose response waits for the gate.
        private func queueWithDownload() async throws -> DownloadQueue {
            transport.on(
                .get, "/a",
                ScriptedResponse(steps: [.hold(gate), .head(.init(status: .ok))]))
            let queue = queue()
            try await queue.add([
                .init("https://cdn.example.com/a", to: folder.appendingPathComponent("a.bin"))
            ])
            return queue
        }

        @Test func downloadInProgressEndsAtTheShutdownAndContinuesInTheNextRun() async throws {
            let queue = try await queueWithDownload()
            try await testGracefulShutdown { trigger in
                let service = Task { try await DownloadQueueService(queue).run() }
                try await gate.reached()
                trigger.triggerGracefulShutdown()
                try await service.value
            }
            #expect(queue.hasNoRunningDownload)
            #expect(transport.requestCount == 1)
            transport.on(.get, "/a", .json("{}"))
            let next = self.queue()
            try await testGracefulShutdown { trigger in
                let service = Task { try await DownloadQueueService(next).run() }
                for await entries in next.updates {
                    if case .finished = entries.first?.state { break }
                }
                trigger.triggerGracefulShutdown()
                try await service.value
            }
            #expect(transport.requestCount == 2)
            let file = folder.appendingPathComponent("a.bin")
            #expect(try Data(contentsOf: file) == Data("{}".utf8))
        }

        @Test func cancelledServiceClosesTheQueue() async throws {
            let queue = try await queueWithDownload()
            let service = Task { try await DownloadQueueService(queue).run() }
            try await gate.reached()
            service.cancel()
            await #expect(throws: CancellationError.self) { try await service.value }
            #expect(queue.hasNoRunningDownload)
        }

        @Test func unreadableDatabaseIsAnError() async throws {
            try Data("not a database".utf8).write(
                to: folder.appendingPathComponent("queue.sqlite"))
            let service = DownloadQueueService(queue())
            let error = await #expect(throws: RequestError.self) { try await service.run() }
            #expect(error?.code == .storeFailed)
        }
    }

    extension DownloadQueue {
        /// Whether no download runs.
        fileprivate var hasNoRunningDownload: Bool {
            entries.allSatisfy { if case .running = $0.state { false } else { true } }
        }
    }
#endif
