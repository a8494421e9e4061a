import ErrandCore
import Foundation
import TestSupport
import Testing

@testable import ErrandSQLite

/// Reads, writes, syncs, opens and truncations that fail.
@Suite(.limited)
struct DiskFaultTests {
    let directory: TemporaryFolder
    let path: String
    let system = FaultyFileSystem()

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("a.sqlite")
    }

    private func store(
        _ path: String, pause: Duration = .zero, system: FaultyFileSystem
    ) -> SQLiteResponseStore {
        var limits = StoreLimits(bytes: 4 << 20, memoryBytes: 0)
        limits.partsThreshold = 100_000
        limits.reopenPause = .zero
        limits.diskPause = pause
        limits.maximumDiskPause = pause
        limits.maintenancePause = 0
        limits.busyAttempts = 3
        limits.vfs = system.name
        return SQLiteResponseStore(path: path, limits: limits, now: { Date() })
    }

    private static let small = entry(String(repeating: "s", count: 9000), tag: 1)
    private static let large = entry(bytes: 300_000)

    /// Runs every operation; errors are collected.
    private func exercise(_ store: SQLiteResponseStore) async -> [RequestError] {
        var errors: [RequestError] = []
        func attempt(_ operation: () async throws(RequestError) -> Void) async {
            do throws(RequestError) { try await operation() } catch { errors.append(error) }
        }
        for round in 0..<3 {
            for number in 0..<4 {
                await attempt { () async throws(RequestError) in
                    try await store.store(Self.small, for: key("\(number)"))
                }
            }
            await attempt { () async throws(RequestError) in
                try await store.store(Self.large, body: .init(Self.large.body), for: key("large"))
            }
            await attempt { () async throws(RequestError) in
                if let found = try await store.entry(for: key("1")) { #expect(found == Self.small) }
            }
            await attempt { () async throws(RequestError) in
                guard let opened = try await store.open(key("large")) else { return }
                let bytes = try await opened.body.bytes(in: 0..<opened.body.count)
                #expect(bytes == Self.large.body)
            }
            await attempt { () async throws(RequestError) in try await store.remove(key("2")) }
            await attempt { () async throws(RequestError) in
                try await store.removeAll(matching: .init(urlPrefix: "http://test/xx"))
            }
            if round == 1 {
                await attempt { () async throws(RequestError) in
                    try await store.removeAll(where: nil)
                }
            }
        }
        return errors
    }

    private static let cases: [(FaultyFileSystem.Operation, FaultyFileSystem.Fault)] = [
        (.read, .inputOutput), (.read, .short), (.write, .full), (.write, .inputOutput),
        (.write, .short), (.sync, .inputOutput), (.open, .full), (.open, .inputOutput),
        (.truncate, .inputOutput),
    ]

    /// The n-th operation fails, once or from then on; afterwards the disk works again.
    @Test(arguments: cases, [true, false])
    func storeRecoversFromAFault(
        fault: (operation: FaultyFileSystem.Operation, kind: FaultyFileSystem.Fault),
        isPersistent: Bool
    ) async throws {
        var failures = 0
        for number in [0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 50, 66, 87, 115, 150, 200] {
            let path = directory.path("\(number).sqlite")
            let store = store(path, system: system)
            system.fail(fault.operation, fault.kind, at: number, isPersistent: isPersistent)
            let errors = await exercise(store)
            let count = system.heal()
            failures += count
            for error in errors {
                #expect(
                    error.code == .storeFailed || error.cacheMiss == .invalidData,
                    "number \(number): \(error)")
            }
            // One event for each kind of problem, not for each failed operation.
            #expect(store.problems.count <= 3, "number \(number): \(store.problems)")
            try await expectRecovery(of: store, path, number)
            if count == 0 { break }
        }
        // A short read at the end of a new file is usual, and truncations are rare.
        #expect(failures > 0)
    }

    private func expectRecovery(
        of store: SQLiteResponseStore, _ path: String, _ number: Int
    ) async throws {
        try await store.store(Self.small, for: key("after"))
        #expect(try await store.entry(for: key("after")) == Self.small, "number \(number)")
        try await store.store(Self.large, body: .init(Self.large.body), for: key("large"))
        #expect(try await store.entry(for: key("large")) == Self.large, "number \(number)")
        let other = SQLiteResponseStore(path: path)
        #expect(try await other.entry(for: key("after")) == Self.small, "number \(number)")
        let check = try SQLiteConnection(path: path, busyMilliseconds: 1000)
            .prepare("PRAGMA integrity_check")
        #expect(try check.step() && check.text(0) == "ok", "number \(number)")
    }

    @Test func fullDiskSuspendsWritingAndIsReportedOnce() async throws {
        let store = store(path, pause: .seconds(3600), system: system)
        try await store.store(Self.small, for: key("a"))
        system.fail(.write, .full, at: 0, isPersistent: true)
        for _ in 0..<5 {
            let error = await #expect(throws: RequestError.self) {
                try await store.store(Self.small, for: key("b"))
            }
            #expect(error?.message.contains("Free some space") == true)
        }
        // The first write failed, the others were not tried.
        #expect(system.heal() <= 2)
        let problems = store.takeProblems()
        #expect(problems.count == 1)
        #expect(problems.first?.message.contains("cannot write") == true)
        #expect(problems.first?.underlying is SQLiteFailure)
        let error = await #expect(throws: RequestError.self) {
            try await store.store(Self.small, for: key("b"))
        }
        #expect(error?.message.contains("suspended") == true)
        // Reads and removals continue.
        #expect(try await store.entry(for: key("a")) == Self.small)
        try await store.remove(key("a"))
        #expect(try await store.entry(for: key("a")) == nil)
    }

    @Test func writingResumesAfterThePause() async throws {
        let store = store(path, pause: .zero, system: system)
        try await store.store(Self.small, for: key("a"))
        system.fail(.write, .full, at: 0, isPersistent: true)
        for _ in 0..<3 { try? await store.store(Self.small, for: key("b")) }
        system.heal()
        try await store.store(Self.small, for: key("b"))
        #expect(try await store.entry(for: key("b")) == Self.small)
        #expect(store.problems.count == 1)
        // The next failure is a new problem.
        system.fail(.write, .full, at: 0, isPersistent: true)
        try? await store.store(Self.small, for: key("c"))
        system.heal()
        #expect(store.problems.count == 2)
    }

    @Test func pausesGrowUpToTheirMaximum() {
        var limits = StoreLimits(bytes: 1 << 20, memoryBytes: 0)
        limits.diskPause = .seconds(1)
        limits.maximumDiskPause = .seconds(5)
        var gate = DiskGate(limits)
        let start = ContinuousClock.now
        let cause = SQLiteFailure(code: 13, message: "full")
        var time = start
        var isFirst = true
        for seconds in [1, 2, 4, 5, 5] {
            #expect(gate.refusal(now: time) == nil)
            let isReported = gate.failed(cause, now: time)
            #expect(isReported == isFirst)
            isFirst = false
            #expect(gate.refusal(now: time + .seconds(seconds) - .milliseconds(1)) != nil)
            time += .seconds(seconds)
        }
        gate.succeeded()
        #expect(gate.refusal(now: time) == nil)
        let isReported = gate.failed(cause, now: time)
        #expect(isReported)
    }
}
