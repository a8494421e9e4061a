import Testing

@testable import ErrandCurl

/// A request is sent again only if the server has not processed it, or may process it twice.
struct ReplayStateTests {
    private typealias Refusal = ReplayState.Refusal

    private func sent(mayReplay: Bool, times: Int = 1) -> ReplayState {
        var state = ReplayState(mayReplay: mayReplay)
        for _ in 0..<times { state.willSend() }
        return state
    }

    private func repetition(
        isUnprocessed: Bool = false, requiresHTTP11: Bool = false, allowsHTTP11: Bool = true,
        hasResponseBegun: Bool = false
    ) -> ReplayState.Repetition {
        ReplayState.Repetition(
            isUnprocessed: isUnprocessed, requiresHTTP11: requiresHTTP11,
            allowsHTTP11: allowsHTTP11, hasResponseBegun: hasResponseBegun)
    }

    private func finish(
        hasFailed: Bool = true, isUnprocessed: Bool = false, isConnectionKept: Bool = true,
        isConnectionLost: Bool = true, hasResponseBegun: Bool = false, isWanted: Bool = true
    ) -> ReplayState.Finish {
        ReplayState.Finish(
            hasFailed: hasFailed, isUnprocessed: isUnprocessed, isConnectionKept: isConnectionKept,
            isConnectionLost: isConnectionLost, hasResponseBegun: hasResponseBegun,
            isWanted: isWanted)
    }

    // MARK: - Repetition by libcurl

    @Test func newStateWasNotSent() {
        let state = ReplayState(mayReplay: true)
        #expect(!state.wasSent)
        #expect(!state.hasReplayed)
        #expect(!state.needsReadmission)
        #expect(!state.isReplayPending)
        #expect(!state.usedSharedConnection)
        #expect(sent(mayReplay: true).wasSent)
    }

    @Test func replayableRequestIsRepeated() {
        let state = sent(mayReplay: true, times: 5)
        #expect(state.refusal(of: repetition()) == nil)
        #expect(state.refusal(of: repetition(isUnprocessed: true)) == nil)
    }

    @Test func requestThatMayBeProcessedIsNotRepeated() {
        #expect(sent(mayReplay: false).refusal(of: repetition()) == .lost)
    }

    @Test func unprocessedRequestIsRepeatedTwice() {
        let unprocessed = repetition(isUnprocessed: true)
        #expect(sent(mayReplay: false, times: 1).refusal(of: unprocessed) == nil)
        #expect(sent(mayReplay: false, times: 2).refusal(of: unprocessed) == nil)
        #expect(sent(mayReplay: false, times: 3).refusal(of: unprocessed) == .unprocessed)
    }

    /// The outcome if the server requires HTTP/1.1.
    @Test(arguments: [
        (true, true, false, nil), (false, true, false, Refusal.needsHTTP11),
        (true, false, false, .needsHTTP11), (true, true, true, .responseBegun),
    ])
    private func http11Required(
        mayReplay: Bool, allowsHTTP11: Bool, hasResponseBegun: Bool, refusal: Refusal?
    ) {
        let repetition = repetition(
            isUnprocessed: true, requiresHTTP11: true, allowsHTTP11: allowsHTTP11,
            hasResponseBegun: hasResponseBegun)
        #expect(sent(mayReplay: mayReplay).refusal(of: repetition) == refusal)
    }

    // MARK: - Sockets

    @Test func socketIsOpenedForUnsharedConnection() {
        var state = sent(mayReplay: true)
        #expect(state.socketAction(repetition()) == .open)
        #expect(!state.needsReadmission)
    }

    @Test func lostSharedConnectionNeedsReadmission() {
        var state = sent(mayReplay: true)
        state.sharesConnection(repeatsUnprocessed: false)
        #expect(state.usedSharedConnection)
        #expect(state.socketAction(repetition()) == .readmit)
        #expect(state.needsReadmission)
        #expect(state.isReplayPending)
    }

    @Test func refusedRepetitionOpensNoSocket() {
        var state = sent(mayReplay: false)
        state.sharesConnection(repeatsUnprocessed: true)
        #expect(state.socketAction(repetition()) == .fail(.lost))
        #expect(!state.isReplayPending)
    }

    @Test func http11NeedsNoReadmission() {
        var state = sent(mayReplay: true)
        state.sharesConnection(repeatsUnprocessed: false)
        #expect(state.socketAction(repetition(requiresHTTP11: true)) == .open)
    }

    @Test func readmissionHappensOnce() {
        var state = sent(mayReplay: true)
        state.sharesConnection(repeatsUnprocessed: false)
        state.replayed()
        #expect(state.socketAction(repetition()) == .open)
    }

    /// A request that is never repeated does not count as one of its shared connection.
    @Test func unrepeatableRequestDoesNotUseSharedConnection() {
        var state = sent(mayReplay: false)
        state.sharesConnection(repeatsUnprocessed: false)
        #expect(!state.usedSharedConnection)
        state.sharesConnection(repeatsUnprocessed: true)
        #expect(state.usedSharedConnection)
    }

    // MARK: - Abandoned connections

    @Test func abandonedConnectionCausesOneReplay() {
        var state = sent(mayReplay: false)
        #expect(state.abandonConnection() == true)
        #expect(!state.wasSent)
        #expect(state.isReplayPending)
        // Nothing was sent, so any method may be replayed, even if libcurl reports success.
        #expect(state.replays(after: finish(hasFailed: false, isConnectionLost: false)))
        state.replayed()
        #expect(state.hasReplayed)
        #expect(!state.isReplayPending)
        state.willSend()
        #expect(state.abandonConnection() == false)
        #expect(state.wasSent)
    }

    // MARK: - Replay by the transport

    @Test func successIsNotReplayed() {
        #expect(!sent(mayReplay: true).replays(after: finish(hasFailed: false)))
    }

    @Test func lostKeptConnectionIsReplayedOnce() {
        var state = sent(mayReplay: true)
        #expect(state.replays(after: finish()))
        state.replayed()
        #expect(!state.replays(after: finish()))
        #expect(!state.replays(after: finish(isUnprocessed: true)))
    }

    @Test func otherFailuresAreNotReplayed() {
        let state = sent(mayReplay: true)
        #expect(!state.replays(after: finish(isConnectionKept: false)))
        #expect(!state.replays(after: finish(isConnectionLost: false)))
        #expect(!state.replays(after: finish(hasResponseBegun: true)))
        #expect(!state.replays(after: finish(isWanted: false)))
        #expect(!sent(mayReplay: false).replays(after: finish()))
        // Without a request on the connection, its loss is a failure to connect.
        #expect(!ReplayState(mayReplay: true).replays(after: finish()))
    }

    @Test func unprocessedRequestIsReplayedIfWanted() {
        let state = sent(mayReplay: false)
        let unprocessed = finish(
            hasFailed: false, isUnprocessed: true, isConnectionKept: false,
            isConnectionLost: false)
        #expect(state.replays(after: unprocessed))
        #expect(!state.replays(after: finish(isUnprocessed: true, isWanted: false)))
    }

    @Test func readmittedRequestIsReplayed() {
        var state = sent(mayReplay: true)
        state.sharesConnection(repeatsUnprocessed: false)
        _ = state.socketAction(repetition())
        #expect(state.replays(after: finish(isConnectionKept: false, isConnectionLost: false)))
        #expect(!state.replays(after: finish(isWanted: false)))
    }

    /// A connection is closed only if all of its requests can move to another one.
    @Test func onlyRepeatableRequestsMove() {
        var state = sent(mayReplay: true)
        #expect(!state.canMove(hasResponseBegun: false))
        state.sharesConnection(repeatsUnprocessed: false)
        #expect(state.canMove(hasResponseBegun: false))
        #expect(!state.canMove(hasResponseBegun: true))
        state.replayed()
        #expect(!state.canMove(hasResponseBegun: false))
        var unrepeatable = sent(mayReplay: false)
        unrepeatable.sharesConnection(repeatsUnprocessed: true)
        #expect(!unrepeatable.canMove(hasResponseBegun: false))
    }
}
