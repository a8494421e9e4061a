import ErrandCurl
import Testing

/// The thread that processes the mailbox, for every order of events.
@Suite struct WakeupStateTests {
    /// A model of the loop's thread, callers and the mailbox.
    private struct Model: Hashable {
        var wakeup = WakeupState()
        var isThreadAsleep = false
        /// Whether the event descriptor was written and not yet read.
        var isSignalled = false
        /// The number of unread messages.
        var messages = 0
        /// Whether a caller runs a turn, and whether it has already read the mailbox.
        var callerTurn: CallerTurn = .none

        enum CallerTurn: Hashable { case none, beforeReading, afterReading }

        /// All possible next states.
        var successors: [Model] {
            var all: [Model] = []
            if messages < 3 {
                for mayRunOnCaller in [false, true] {
                    all.append(posted(mayRunOnCaller: mayRunOnCaller))
                }
            }
            switch callerTurn {
            case .none: break
            case .beforeReading:
                var next = self
                (next.messages, next.callerTurn) = (0, .afterReading)
                all += [next, returned(isThreadNeeded: true)]
            case .afterReading:
                all += [returned(isThreadNeeded: false), returned(isThreadNeeded: true)]
            }
            // A socket or a deadline may wake the thread at any time; it then reads the mailbox.
            var next = self
            if isThreadAsleep {
                next.wakeup.wakes()
                (next.isThreadAsleep, next.isSignalled) = (false, false)
            } else if messages > 0 {
                next.messages = 0
            } else {
                next.isThreadAsleep = true
                next.wakeup.fallsAsleep(allowsCallerTurns: false)
                all.append(next)
                next.wakeup.fallsAsleep(allowsCallerTurns: true)
            }
            all.append(next)
            return all
        }

        private func posted(mayRunOnCaller: Bool) -> Model {
            var next = self
            next.messages += 1
            switch next.wakeup.posted(mayRunOnCaller: mayRunOnCaller) {
            case .nothing: break
            case .wake: next.isSignalled = true
            case .runOnCaller: next.callerTurn = .beforeReading
            }
            return next
        }

        private func returned(isThreadNeeded: Bool) -> Model {
            var next = self
            next.callerTurn = .none
            if next.wakeup.returned(isThreadNeeded: isThreadNeeded || messages > 0) {
                next.isSignalled = true
            }
            return next
        }

        /// Whether some thread will read every message.
        var isEveryMessageHandled: Bool {
            messages == 0 || !isThreadAsleep || isSignalled || callerTurn != .none
        }
    }

    @Test func everyMessageIsHandled() {
        var seen: Set<Model> = [Model()]
        var edge = [Model()]
        while let model = edge.popLast() {
            for next in model.successors where seen.insert(next).inserted { edge.append(next) }
        }
        #expect(seen.count > 20)
        #expect(seen.filter { !$0.isEveryMessageHandled }.isEmpty)
        #expect(seen.allSatisfy { $0.wakeup.isCallerTurn == ($0.callerTurn != .none) })
    }

    @Test func onlyOneCallerRunsTurn() {
        var wakeup = WakeupState()
        var actions = [wakeup.posted(mayRunOnCaller: true)]
        wakeup.fallsAsleep(allowsCallerTurns: true)
        actions += [true, true, false].map { wakeup.posted(mayRunOnCaller: $0) }
        #expect(actions == [.nothing, .runOnCaller, .nothing, .nothing])
        let wakes = wakeup.returned(isThreadNeeded: true)
        #expect(wakes)
        // The thread was already woken.
        let last = wakeup.posted(mayRunOnCaller: true)
        #expect(last == .nothing)
    }

    @Test func threadIsWokenIfCallerTurnsAreNotAllowed() {
        var wakeup = WakeupState()
        wakeup.fallsAsleep(allowsCallerTurns: false)
        let actions = [wakeup.posted(mayRunOnCaller: true), wakeup.posted(mayRunOnCaller: true)]
        #expect(actions == [.wake, .nothing])
    }

    @Test func awakeThreadIsNotWoken() {
        var wakeup = WakeupState()
        wakeup.fallsAsleep(allowsCallerTurns: true)
        let action = wakeup.posted(mayRunOnCaller: true)
        #expect(action == .runOnCaller)
        wakeup.wakes()
        let wakes = wakeup.returned(isThreadNeeded: true)
        #expect(!wakes)
    }
}
