import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandUploads

/// Rules that hold for every order of events.
struct TusEventOrderTests {
    private typealias Scripts = TusUploadStateTests

    private static let events: [TusUploadState.Event] = [
        Scripts.options, Scripts.response(201), Scripts.response(200, offset: 0),
        Scripts.response(204, offset: 4), Scripts.response(204, offset: 8),
        Scripts.response(204, offset: 10), Scripts.response(204, offset: 11),
        Scripts.response(204), Scripts.response(404), Scripts.response(409),
        Scripts.response(423), Scripts.response(460),
        Scripts.response(503) { $0.retryAfter = .zero },
        Scripts.response(413), Scripts.lost, .failure(.cancelled, isTransient: false), .pauseEnded,
    ]

    /// Checks each decision that follows from up to five events in any order.
    @Test func rulesHoldForAllOrdersOfEvents() {
        var ends = 0
        var visited = 0
        func explore(
            _ state: TusUploadState, _ decision: TusUploadState.Decision, confirmed: Int64,
            depth: Int
        ) {
            visited += 1
            switch decision.operation {
            case .finish(let remote):
                ends += 1
                #expect(remote.offset == 10 && confirmed == 10 && decision.journal == .remove)
                expectRepeatedEnd(state)
                return
            case .fail:
                ends += 1
                expectRepeatedEnd(state)
                return
            case .send(.append(_, let piece)):
                guard case .write(let remote) = decision.journal else {
                    Issue.record("A piece is sent without a journal.")
                    return
                }
                #expect(piece.offset == confirmed && piece.length > 0 && piece.end <= 10)
                #expect(remote.offset == piece.offset && remote.sent >= piece.end)
            case .send, .pause: break
            }
            guard depth > 0 else { return }
            for event in Self.events {
                var next = state
                let following = next.handle(event)
                var offset = confirmed
                if case .response(let response, _) = event, response.isSuccess,
                    let named = response.offset
                {
                    offset = named
                }
                if case .send(.create) = following.operation { offset = 0 }
                if case .send(.append(_, let piece)) = following.operation, piece.offset == 0 {
                    offset = 0
                }
                explore(next, following, confirmed: offset, depth: depth - 1)
            }
        }
        for remote in [nil, Scripts.remote(4)] {
            var state = TusUploadState(Scripts.plan { $0.pieceSize = 4 })
            let start = state.start(remote, isChanged: false)
            explore(state, start, confirmed: remote?.offset ?? 0, depth: 5)
        }
        #expect(ends > 1000)
        #expect(visited > ends)
    }

    private func expectRepeatedEnd(_ state: TusUploadState) {
        var state = state
        let decision = state.handle(Scripts.lost)
        switch decision.operation {
        case .finish, .fail: #expect(decision.journal == .none)
        case .send, .pause: Issue.record("An operation follows the end.")
        }
    }

    /// A server that never confirms more bytes cannot keep the run going.
    @Test func everyHostileServerEndsTheRun() {
        var generator = SeededGenerator(seed: 7)
        let hostile = Self.events.filter { event in
            if case .response(let response, _) = event, let offset = response.offset, offset > 0 {
                return false
            }
            return true
        }
        for _ in 0..<2000 {
            var state = TusUploadState(Scripts.plan { $0.pieceSize = 4 })
            var decision = state.start(Scripts.remote(4), isChanged: false)
            var steps = 0
            loop: while steps < 200 {
                steps += 1
                switch decision.operation {
                case .finish, .fail: break loop
                case .pause: decision = state.handle(.pauseEnded)
                case .send:
                    decision = state.handle(
                        hostile.randomElement(using: &generator) ?? Scripts.lost)
                }
            }
            #expect(steps < 60)
        }
    }
}
