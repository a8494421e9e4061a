import ErrandCurl
import Testing

/// Who looks after the mailbox, in every order of events.
@Suite struct LoopWatchTests {
    /// The loop's thread, callers and the mailbox between them.
    private struct Model: Hashable {
        var watch = LoopWatch()
        var isThreadAsleep = false
        /// The event descriptor has been written and not read.
        var isCalled = false
        /// How many messages nobody has read.
        var messages = 0
        /// A caller has the turn and has read the mailbox already, or has not.
        var lent: Lent = .nobody

        enum Lent: Hashable { case nobody, before, after }

        /// Everything that may happen next.
        var successors: [Model] {
            var all: [Model] = []
            if messages < 3 {
                for mayLend in [false, true] { all.append(posted(mayLend: mayLend)) }
            }
            switch lent {
            case .nobody: break
            case .before:
                var next = self
                (next.messages, next.lent) = (0, .after)
                all += [next, returned(isThreadNeeded: true)]
            case .after: all += [returned(isThreadNeeded: false), returned(isThreadNeeded: true)]
            }
            // A socket or a deadline may wake the thread at any time; whatever it was, it reads its mail.
            var next = self
            if isThreadAsleep {
                next.watch.wakes()
                (next.isThreadAsleep, next.isCalled) = (false, false)
            } else if messages > 0 {
                next.messages = 0
            } else {
                next.watch.fallsAsleep()
                next.isThreadAsleep = true
            }
            all.append(next)
            return all
        }

        private func posted(mayLend: Bool) -> Model {
            var next = self
            next.messages += 1
            switch next.watch.posted(mayLend: mayLend) {
            case .nothing: break
            case .wake: next.isCalled = true
            case .lend: next.lent = .before
            }
            return next
        }

        private func returned(isThreadNeeded: Bool) -> Model {
            var next = self
            next.lent = .nobody
            if next.watch.returned(isThreadNeeded: isThreadNeeded || messages > 0) {
                next.isCalled = true
            }
            return next
        }

        /// Somebody is on the way to every message.
        var isLookedAfter: Bool {
            messages == 0 || !isThreadAsleep || isCalled || lent != .nobody
        }
    }

    @Test func noMessageIsForgotten() {
        var seen: Set<Model> = [Model()]
        var edge = [Model()]
        while let model = edge.popLast() {
            for next in model.successors where seen.insert(next).inserted { edge.append(next) }
        }
        #expect(seen.count > 20)
        #expect(seen.filter { !$0.isLookedAfter }.isEmpty)
        #expect(seen.allSatisfy { $0.watch.isLent == ($0.lent != .nobody) })
    }

    @Test func onlyOneHasTheTurn() {
        var watch = LoopWatch()
        var duties = [watch.posted(mayLend: true)]
        watch.fallsAsleep()
        duties += [true, true, false].map { watch.posted(mayLend: $0) }
        #expect(duties == [.nothing, .lend, .nothing, .nothing])
        let wakes = watch.returned(isThreadNeeded: true)
        #expect(wakes)
        // The thread is on its way.
        let last = watch.posted(mayLend: true)
        #expect(last == .nothing)
    }

    @Test func aThreadThatIsAwakeIsNotCalled() {
        var watch = LoopWatch()
        watch.fallsAsleep()
        let duty = watch.posted(mayLend: true)
        #expect(duty == .lend)
        watch.wakes()
        let wakes = watch.returned(isThreadNeeded: true)
        #expect(!wakes)
    }
}
