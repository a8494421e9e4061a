import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandSQLite

/// Requests of an agent whose store fails.
@Suite(.limited)
struct DiskFaultRequestTests {
    /// These requests truncate nothing; see `DiskFaultTests` for truncations.
    private static let faults: [(FaultyFileSystem.Operation, FaultyFileSystem.Fault)] = [
        (.read, .inputOutput), (.read, .short), (.write, .full), (.write, .inputOutput),
        (.write, .short), (.sync, .inputOutput), (.open, .full), (.open, .inputOutput),
    ]

    private let directory: TemporaryFolder
    private let system = FaultyFileSystem()
    private let transport = ScriptedTransport()
    private let events = EventRecorder()
    private static let body = Data(repeating: 7, count: 30_000)

    init() throws {
        directory = try TemporaryFolder()
        transport.on(
            .get, nil,
            ScriptedResponse(headers: [.cacheControl: "max-age=60"], body: Self.body))
    }

    private func agent(_ path: String) -> RequestAgent {
        var limits = StoreLimits(bytes: 4 << 20, memoryBytes: 0)
        limits.partsThreshold = 20_000
        limits.reopenPause = .zero
        limits.diskPause = .zero
        limits.maximumDiskPause = .zero
        limits.vfs = system.name
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.eventListeners = [events]
        return RequestAgent(
            configuration: configuration, transport: transport,
            store: SQLiteResponseStore(path: path, limits: limits, now: { Date() }))
    }

    /// Sends requests for a few URLs, some of them twice; returns the number of stored responses used.
    private func exercise(_ agent: RequestAgent, _ policy: CachePolicy?) async throws -> Int {
        var hits = 0
        for number in [0, 1, 0, 2, 3, 1, 0] {
            var description = RequestDescription(endpoint: "Item", url: "\(number)")
            description.cacheSeconds = 60
            description.cache.policy = policy
            description.cache.writesAsynchronously = number == 2
            description.acceptance.format = .any
            let response = try await agent.start(description).response()
            #expect(response.data == Self.body)
            if response.source != .network { hits += 1 }
        }
        await agent.flushCache()
        return hits
    }

    private func problems() -> [RequestError] {
        events.events.compactMap { event in
            if case .storeProblem(let error) = event.kind { error } else { nil }
        }
    }

    /// The n-th operation of the disk fails, once or from then on: the requests succeed.
    @Test(arguments: faults, [true, false])
    func requestsSucceed(
        fault: (operation: FaultyFileSystem.Operation, kind: FaultyFileSystem.Fault),
        isPersistent: Bool
    ) async throws {
        var failures = 0
        for number in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89] {
            for policy in [CachePolicy.cacheElseLoad, .http] {
                let agent = agent(directory.path("\(number)-\(policy).sqlite"))
                system.fail(fault.operation, fault.kind, at: number, isPersistent: isPersistent)
                _ = try await exercise(agent, policy)
                failures += system.heal()
                // The disk works again, and so does the store.
                _ = try await exercise(agent, policy)
                #expect(try await exercise(agent, policy) == 7, "number \(number)")
            }
        }
        #expect(failures > 0)
    }

    /// One event reports the cause, however many requests are not stored; writing then resumes.
    @Test func fullDiskIsOneEvent() async throws {
        let agent = agent(directory.path("full.sqlite"))
        #expect(try await exercise(agent, nil) == 3)
        try await agent.clearCache()
        system.fail(.write, .full, at: 0, isPersistent: true)
        for _ in 0..<3 { _ = try await exercise(agent, nil) }
        #expect(system.heal() > 0)
        #expect(problems().count == 1)
        #expect(problems().first?.code == .storeFailed)
        #expect(problems().first?.message.contains("cannot write") == true)
        #expect(problems().first?.underlying is SQLiteFailure)
        _ = try await exercise(agent, nil)
        #expect(try await exercise(agent, nil) == 7)
        #expect(problems().count == 1)
    }
}
