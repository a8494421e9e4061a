#if Redis && os(Linux)
    import ErrandCore
    import Testing

    @testable import ErrandRedis

    @Suite struct MemoryTierTests {
        private let one = key("1")
        private let id = EntryID(key("1"))
        private let second: Int64 = 1_000_000_000

        private func filled(end: Int64 = .max) -> MemoryTier {
            var tier = MemoryTier(limit: 1 << 20)
            tier.heartbeat(0)
            let read = tier.beginRead(id, now: 0)
            tier.finish(entry("a"), for: one, id, read: read, end: end, now: 0)
            return tier
        }

        @Test func readEntryIsKept() {
            var tier = filled()
            #expect(tier.entry(for: one, id, now: 1) == entry("a"))
            #expect(tier.entry(for: key("other"), id, now: 1) == nil)
        }

        @Test func entryIsNotUsedAfterItsEnd() {
            var tier = filled(end: 10)
            #expect(tier.entry(for: one, id, now: 9) != nil)
            #expect(tier.entry(for: one, id, now: 10) == nil)
            #expect(tier.count == 0)
        }

        @Test func entryIsNotUsedWithoutASignOfLife() {
            var tier = filled()
            #expect(tier.entry(for: one, id, now: second - 1) != nil)
            #expect(tier.entry(for: one, id, now: second) == nil)
            // A late sign of life follows all notices that were sent before it.
            tier.heartbeat(second)
            #expect(tier.entry(for: one, id, now: second) != nil)
        }

        @Test func lossEmptiesTheTier() {
            var tier = filled()
            tier.heartbeat(nil)
            tier.heartbeat(5)
            #expect(tier.entry(for: one, id, now: 6) == nil)
        }

        @Test func noticeRemovesTheEntry() {
            var tier = filled()
            tier.invalidate(id)
            #expect(tier.entry(for: one, id, now: 1) == nil)
        }

        @Test func noticeDuringAReadKeepsItsEntryOut() {
            var tier = MemoryTier(limit: 1 << 20)
            tier.heartbeat(0)
            let early = tier.beginRead(id, now: 0)
            tier.invalidate(id)
            let late = tier.beginRead(id, now: 0)
            tier.finish(entry("old"), for: one, id, read: early, end: .max, now: 0)
            #expect(tier.entry(for: one, id, now: 1) == nil)
            tier.finish(entry("new"), for: one, id, read: late, end: .max, now: 0)
            #expect(tier.entry(for: one, id, now: 1) == entry("new"))
        }

        @Test func concurrentReadsOfOneKeyKeepTheEntry() {
            var tier = MemoryTier(limit: 1 << 20)
            tier.heartbeat(0)
            let first = tier.beginRead(id, now: 0)
            let second = tier.beginRead(id, now: 0)
            tier.finish(nil, for: one, id, read: first, end: .max, now: 0)
            tier.finish(entry("a"), for: one, id, read: second, end: .max, now: 0)
            #expect(tier.entry(for: one, id, now: 1) == entry("a"))
        }

        @Test func readFromBeforeTheConnectionIsNotKept() {
            var tier = MemoryTier(limit: 1 << 20)
            let read = tier.beginRead(id, now: 0)
            tier.heartbeat(1)
            tier.finish(entry("a"), for: one, id, read: read, end: .max, now: 2)
            #expect(tier.entry(for: one, id, now: 2) == nil)
        }

        @Test func largeEntryIsNotKept() {
            var tier = MemoryTier(limit: 1000)
            tier.heartbeat(0)
            let read = tier.beginRead(id, now: 0)
            tier.finish(entry("a"), for: one, id, read: read, end: .max, now: 0)
            #expect(tier.count == 0)
        }

        @Test func tierWithoutSizeKeepsNothing() {
            var tier = MemoryTier(limit: 0)
            tier.heartbeat(0)
            #expect(tier.beginRead(id, now: 0) == 0)
        }
    }

    @Suite struct MissedRemovalsTests {
        @Test func tooManyKeysBecomeTheRemovalOfAll() {
            var missed = MissedRemovals()
            for number in 0..<10_000 { missed.add(EntryID(key("\(number)"))) }
            #expect(missed.ids.count == 10_000 && !missed.removesAll)
            missed.add(EntryID(key("one more")))
            #expect(missed.removesAll && missed.ids.isEmpty)
            missed.add(EntryID(key("2")))
            #expect(missed.ids.isEmpty)
        }

        @Test func tooManyRulesBecomeTheRemovalOfAll() {
            var missed = MissedRemovals()
            for tag in 0..<101 { missed.add(.selection(.init(tag: tag))) }
            #expect(missed.removesAll && missed.rules.isEmpty)
        }

        @Test func valuesAreJoined() {
            var missed = MissedRemovals()
            #expect(missed.isEmpty)
            missed.add(EntryID(key("1")))
            var other = MissedRemovals()
            other.add(EntryID(key("2")))
            other.add(.predicate { _ in true })
            missed.add(other)
            #expect(missed.ids.count == 2 && missed.rules.count == 1)
            other.addAll()
            missed.add(other)
            #expect(missed.removesAll)
        }
    }
#endif
