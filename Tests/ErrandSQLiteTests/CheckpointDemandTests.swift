import Testing

@testable import ErrandSQLite

/// When the log is copied into the database in the background.
struct CheckpointDemandTests {
    private func take(_ demand: inout CheckpointDemand) -> Bool { demand.take(above: 100) }

    @Test func growthSinceTheStartOfTheLogCounts() {
        var demand = CheckpointDemand()
        demand.observe(log: 100)
        #expect(take(&demand) == false)
        demand.observe(log: 101)
        #expect(take(&demand) == true)
        #expect(take(&demand) == false)
    }

    /// A reader keeps SQLite from starting the log again: a checkpoint is due after further growth.
    @Test func logThatWasNotStartedAgainCountsFromTheLastCheckpoint() {
        var demand = CheckpointDemand()
        demand.observe(log: 150)
        #expect(take(&demand) == true)
        demand.observe(log: 250)
        #expect(take(&demand) == false)
        demand.observe(log: 251)
        #expect(take(&demand) == true)
    }

    @Test func logThatWasStartedAgainCountsFromItsBeginning() {
        var demand = CheckpointDemand()
        demand.observe(log: 150)
        #expect(take(&demand) == true)
        demand.observe(log: 10)
        #expect(take(&demand) == false)
        demand.observe(log: 110)
        #expect(take(&demand) == true)
    }

    @Test func logThatAnEarlierProcessLeftIsCopied() {
        var demand = CheckpointDemand(log: 150)
        #expect(take(&demand) == true)
    }
}
