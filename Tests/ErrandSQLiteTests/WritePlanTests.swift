import ErrandCore
import Foundation
import Testing

@testable import ErrandSQLite

/// The steps of a write, and the limits from which they follow.
struct WritePlanTests {
    private let limits = StoreLimits(bytes: 1 << 20, memoryBytes: 0)
    private let now = ContinuousClock.now

    private func plan(bytes: Int = 20_000, checksFile: Bool = false) -> WritePlan {
        WritePlan(RowCost(bytes: bytes), limits: limits, checksFile: checksFile)
    }

    private func next(
        _ plan: inout WritePlan, used: Int = 8192, file: Int? = nil, log: Int = 0
    ) -> WritePlan.Step {
        plan.next(
            StoreMeasure(used: used, file: file ?? used, log: log), gate: LogGate(limits), now: now)
    }

    @Test func rowThatFitsIsWritten() {
        var plan = plan()
        #expect(next(&plan) == .write)
        #expect(next(&plan, log: limits.logBytes / 2) == .write)
    }

    @Test func fullLogIsEmptiedFirst() {
        var plan = plan()
        #expect(next(&plan, log: limits.logBytes) == .checkpoint)
        #expect(next(&plan, used: limits.databaseBytes, log: limits.logBytes) == .checkpoint)
    }

    @Test func blockedLogRefusesTheRow() {
        var limits = limits
        limits.checkpointPatience = .zero
        var gate = LogGate(limits)
        _ = gate.checkpointEnded(didEmpty: false, generation: 1, now: now)
        var plan = plan()
        let sizes = StoreMeasure(used: 8192, file: 8192, log: limits.logBytes)
        #expect(plan.next(sizes, gate: gate, now: now) == .refuse)
    }

    @Test func evictionGoesBelowTheLimit() {
        var plan = plan()
        let cost = RowCost(bytes: 20_000)
        let full = limits.databaseBytes - cost.database
        #expect(next(&plan, used: full) == .write)
        #expect(next(&plan, used: full + 4096) == .evict(bytes: limits.spare + 4096))
        plan.evicted(count: 3)
        #expect(next(&plan, used: full) == .evict(bytes: limits.spare))
        plan.evicted(count: 3)
        #expect(next(&plan, used: full - limits.spare) == .write)
    }

    @Test func rowIsWrittenWhenNothingCanBeEvicted() {
        var plan = plan()
        #expect(next(&plan, used: limits.databaseBytes) != .write)
        plan.evicted(count: 0)
        #expect(next(&plan, used: limits.databaseBytes) == .write)
    }

    @Test func evictionNeedsRoomForItsBatch() {
        let small = plan(bytes: 100)
        var plan = small
        let log = limits.logBytes - limits.batchBytes
        #expect(next(&plan, used: limits.databaseBytes, log: log + 1) == .checkpoint)
        plan = small
        #expect(next(&plan, log: log + 1) == .write)
    }

    @Test func fileOfALargerLimitIsShrunkOnce() {
        var unchecked = plan()
        #expect(next(&unchecked, file: 50 << 20) == .write)
        var checked = plan(checksFile: true)
        #expect(next(&checked, file: limits.fileBytes) == .write)
        #expect(next(&checked, file: limits.fileBytes + 4096) == .shrink)
        #expect(next(&checked, file: limits.fileBytes + 4096) == .write)
    }

    @Test(
        "Database and log together have the size of the limit",
        arguments: [64 << 10, 128 << 10, 256 << 10, 1 << 20, 10_000_000, 256 << 20, 4 << 30])
    func partsHaveTheSizeOfTheLimit(bytes: Int) {
        let limits = StoreLimits(bytes: bytes, memoryBytes: 0)
        #expect(limits.databaseBytes + limits.logBytes <= max(bytes, 96 << 10))
        #expect(limits.databaseBytes + limits.logBytes >= bytes)
        #expect(limits.databaseBytes >= bytes / 2)
    }

    @Test func removalsAreSplitByTheirSizeInTheLog() {
        func infos(_ sizes: [Int]) -> [StoredEntryInfo] {
            sizes.enumerated().map { number, size in
                StoredEntryInfo(
                    key: key("\(number)"), url: "", storedAt: Date(), size: size, tag: 0,
                    identity: nil)
            }
        }
        let half = limits.batchBytes / 2 - RowCost.frameBytes
        let sizes = [half, half, half, 10 * limits.batchBytes, 1, 1]
        let batches = limits.removalBatches(of: infos(sizes))
        #expect(
            batches == [
                [key("0"), key("1")], [key("2")], [key("3")], [key("4"), key("5")],
            ])
        #expect(limits.removalBatches(of: []).isEmpty)
    }
}
