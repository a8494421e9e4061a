import Testing

@testable import ErrandCurl

/// The states of a connection: every exchange ends once, and only a connection whose request and
/// response are both complete is used again.
struct ConnectionStateTests {
    /// An idle connection that has carried this number of requests.
    private func idle(after requests: Int = 0) -> ConnectionState {
        var state = ConnectionState()
        state.connected()
        for _ in 0..<requests {
            #expect(state.begin(hasBody: false, expectsContinue: false, closes: false) == true)
            #expect(state.headSent() == .none)
            #expect(state.headReceived(status: 200) == .none)
            #expect(state.responseComplete(keepsConnection: true) == .end(keepsConnection: true))
        }
        return state
    }

    private func sending(
        hasBody: Bool = true, expectsContinue: Bool = false, closes: Bool = false
    ) -> ConnectionState {
        var state = idle()
        #expect(
            state.begin(hasBody: hasBody, expectsContinue: expectsContinue, closes: closes) == true)
        return state
    }

    @Test func connectionIsUsedAgain() {
        var state = ConnectionState()
        #expect(state.begin(hasBody: false, expectsContinue: false, closes: false) == false)
        state.connected()
        #expect(state.isIdle && !state.isReused)
        state = idle(after: 2)
        #expect(state.isIdle && state.isReused)
        #expect(state.begin(hasBody: false, expectsContinue: false, closes: false) == true)
        #expect(state.begin(hasBody: false, expectsContinue: false, closes: false) == false)
        #expect(state.isSending && !state.isIdle)
    }

    @Test(arguments: [true, false])
    func connectionIsClosedIfEitherSideAsks(byRequest: Bool) {
        var state = sending(hasBody: false, closes: byRequest)
        _ = state.headSent()
        _ = state.headReceived(status: 200)
        #expect(
            state.responseComplete(keepsConnection: byRequest) == .end(keepsConnection: false))
        #expect(state.phase == .closed)
    }

    @Test func bodyIsSentAfterHead() {
        var state = sending()
        #expect(state.headSent() == .sendBody)
        #expect(state.isSending)
        #expect(state.bodySent() == .none)
        #expect(!state.isSending)
        #expect(state.headReceived(status: 500) == .none)
        #expect(state.responseComplete(keepsConnection: true) == .end(keepsConnection: true))
    }

    @Test func bodyAwaitsContinue() {
        var state = sending(expectsContinue: true)
        #expect(state.headSent() == .none)
        #expect(!state.isSending)
        #expect(state.continueBody() == .sendBody)
        #expect(state.continueBody() == .none)
        #expect(state.bodySent() == .none)
    }

    /// 100 (Continue) may arrive before the head is completely sent.
    @Test func earlyContinueIsKept() {
        var state = sending(expectsContinue: true)
        #expect(state.continueBody() == .none)
        #expect(state.headSent() == .sendBody)
    }

    @Test(arguments: [200, 401, 417])
    func finalResponseInsteadOfContinueSuppressesBody(status: Int) {
        var state = sending(expectsContinue: true)
        _ = state.headSent()
        #expect(state.headReceived(status: status) == .stopSending)
        #expect(state.continueBody() == .none)
        #expect(state.responseComplete(keepsConnection: true) == .end(keepsConnection: false))
    }

    @Test(arguments: [true, false])
    func earlyRefusalStopsSending(isHeadSent: Bool) {
        var state = sending()
        if isHeadSent { _ = state.headSent() }
        #expect(state.headReceived(status: 413) == .stopSending)
        #expect(!state.isSending)
        #expect(state.responseComplete(keepsConnection: true) == .end(keepsConnection: false))
    }

    @Test func earlySuccessDoesNotStopSending() {
        var state = sending()
        _ = state.headSent()
        #expect(state.headReceived(status: 200) == .none)
        #expect(state.responseComplete(keepsConnection: true) == .none)
        #expect(state.isSending)
        #expect(state.bodySent() == .end(keepsConnection: true))
        #expect(state.isIdle)
    }

    @Test func earlySuccessEndsWithConnectionOrAtIdleLimit() {
        var state = sending()
        _ = state.headSent()
        _ = state.headReceived(status: 200)
        _ = state.responseComplete(keepsConnection: true)
        var closed = state
        #expect(closed.inputEnded() == .end(keepsConnection: false))
        var silent = state
        #expect(silent.idleLimitReached() == .end(keepsConnection: false))
        var failed = state
        #expect(failed.sendFailed() == .end(keepsConnection: false))
        #expect(state.unsolicitedInput() == .none)
        #expect(state.bodySent() == .end(keepsConnection: false))
    }

    /// A server that refuses an upload and closes resets the connection; its response can be read.
    @Test func responseIsReadAfterSendFailed() {
        var state = sending()
        _ = state.headSent()
        #expect(state.sendFailed() == .none)
        #expect(!state.isSending)
        #expect(state.headReceived(status: 413) == .none)
        #expect(state.responseComplete(keepsConnection: true) == .end(keepsConnection: false))
    }

    @Test func idleConnectionIsClosedByInput() {
        for isEnd in [true, false] {
            var state = idle(after: 1)
            #expect((isEnd ? state.inputEnded() : state.unsolicitedInput()) == .close)
            #expect(state.phase == .closed)
            #expect(state.begin(hasBody: false, expectsContinue: false, closes: false) == false)
        }
    }

    @Test func connectionIsHandedOver() {
        var state = sending(hasBody: false)
        _ = state.headSent()
        #expect(state.switchedProtocols() == true)
        #expect(state.isHandedOver && state.isSending && state.exchange == nil)
        var failed = state
        #expect(failed.failed() == .fail && failed.phase == .closed)
        var broken = state
        #expect(broken.sendFailed() == .none && broken.isHandedOver && !broken.isSending)
        #expect(broken.inputEnded() == .end(keepsConnection: false) && broken.phase == .closed)
        // Each side ends its direction, in either order.
        var second = state
        #expect(state.inputEnded() == .none && state.isHandedOver && state.isSending)
        #expect(state.bodySent() == .end(keepsConnection: false) && state.phase == .closed)
        #expect(second.bodySent() == .none && second.isHandedOver && !second.isSending)
        #expect(second.bodySent() == .none)
        #expect(second.inputEnded() == .end(keepsConnection: false) && second.phase == .closed)
    }

    /// The client must not use the other protocol before its request is complete (RFC 9110 §7.8).
    @Test func connectionIsNotHandedOverDuringRequest() {
        var state = sending()
        #expect(state.switchedProtocols() == false)
        _ = state.headSent()
        #expect(state.switchedProtocols() == false)
        _ = state.bodySent()
        #expect(state.switchedProtocols() == true)
        #expect(state.switchedProtocols() == false)
        var idle = idle()
        #expect(idle.switchedProtocols() == false)
    }

    @Test func replayNeedsReusedConnection() {
        for requests in 0...1 {
            var state = idle(after: requests)
            _ = state.begin(hasBody: false, expectsContinue: false, closes: false)
            let decision = state.replayDecision(
                mayReplay: true, hasResponseBegun: false, isConnectionLost: true, isWanted: true)
            #expect(decision.shouldReplay == (requests > 0))
        }
    }

    // MARK: - All states

    private typealias Event = @Sendable (inout ConnectionState) -> ConnectionState.Action

    private static let events: [(name: String, apply: Event)] = [
        (
            "connected",
            {
                $0.connected(); return .none
            }
        ),
        (
            "begin",
            {
                _ = $0.begin(hasBody: false, expectsContinue: false, closes: false); return .none
            }
        ),
        (
            "begin closing",
            {
                _ = $0.begin(hasBody: false, expectsContinue: false, closes: true); return .none
            }
        ),
        (
            "begin with body",
            {
                _ = $0.begin(hasBody: true, expectsContinue: false, closes: false); return .none
            }
        ),
        (
            "begin expecting",
            {
                _ = $0.begin(hasBody: true, expectsContinue: true, closes: false); return .none
            }
        ),
        ("headSent", { $0.headSent() }), ("continueBody", { $0.continueBody() }),
        ("bodySent", { $0.bodySent() }), ("sendFailed", { $0.sendFailed() }),
        ("200", { $0.headReceived(status: 200) }), ("404", { $0.headReceived(status: 404) }),
        ("complete", { $0.responseComplete(keepsConnection: true) }),
        ("complete closing", { $0.responseComplete(keepsConnection: false) }),
        (
            "switchedProtocols",
            {
                _ = $0.switchedProtocols(); return .none
            }
        ),
        ("unsolicitedInput", { $0.unsolicitedInput() }), ("inputEnded", { $0.inputEnded() }),
        ("idleLimitReached", { $0.idleLimitReached() }), ("failed", { $0.failed() }),
    ]

    /// Applies every event to every state that can be reached.
    @Test func everyReachableStateIsConsistent() {
        var known: Set<ConnectionState> = [ConnectionState()]
        var queue = [ConnectionState()]
        while let state = queue.popLast() {
            for (name, apply) in Self.events {
                var next = state
                check(apply(&next), name, from: state, to: next)
                if known.insert(next).inserted { queue.append(next) }
            }
        }
        // Three lasting states with and without an earlier request, and those of an exchange.
        #expect(known.count > 40 && known.count < 200)
    }

    private func check(
        _ action: ConnectionState.Action, _ event: String, from before: ConnectionState,
        to after: ConnectionState
    ) {
        let wasActive = before.exchange != nil || before.isHandedOver
        let isActive = after.exchange != nil || after.isHandedOver
        let change: Comment = "\(event): \(before.phase) to \(after.phase), \(action)"
        switch action {
        case .end(let keeps):
            #expect(wasActive && !isActive && (after.isReused || !keeps), change)
            #expect(keeps == after.isIdle, change)
            // A connection is kept only after a complete request.
            if keeps {
                let isSent =
                    before.exchange?.sending == .done || event == "bodySent"
                    || event == "headSent" && before.exchange?.hasBody == false
                #expect(isSent && before.exchange?.keepsConnection == true, change)
            }
        case .fail: #expect(wasActive && after.phase == .closed, change)
        case .close: #expect(!wasActive && after.phase == .closed, change)
        case .sendBody: #expect(after.exchange?.sending == .body && after.isSending, change)
        case .stopSending:
            #expect(after.exchange?.sending == .stopped, change)
            #expect(after.exchange?.keepsConnection == false, change)
        case .none:
            // An exchange, and a connection that is handed over, end only by an action.
            #expect(!wasActive || isActive, change)
        }
        if before.isHandedOver { #expect(after.isHandedOver || after.phase == .closed, change) }
        if before.phase == .closed {
            #expect(after == before && action == .none, change)
        }
        if let one = before.exchange, let other = after.exchange {
            #expect(one.keepsConnection || !other.keepsConnection, change)
            #expect(
                one.sending != .done && one.sending != .stopped || one.sending == other.sending,
                change)
        }
    }
}
