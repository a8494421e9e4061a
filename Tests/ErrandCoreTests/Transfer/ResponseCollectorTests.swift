import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// Every order of the events of one transfer, before and after the transport's `start` returns.
@Suite(.limited) struct ResponseCollectorTests {
    enum Action: CaseIterable { case head, bytes, suspend, resume, cancel, end }

    @Test func everyOrderEndsOnceAndLosesNoWakeUp() async {
        for length in 0...4 {
            for order in sequences(of: Action.allCases, length: length) {
                for split in 0...length {
                    await check(Array(order[..<split]), then: Array(order[split...]))
                }
            }
        }
    }

    @Test func transferCancelledBeforeItsStartIsNotStarted() async {
        let transport = ManualTransport(startActions: [])
        let (collector, _) = collector(over: transport)
        collector.cancel()
        await withUnsafeContinuation {
            collector.run(resuming: $0)
        }
        #expect(collector.takeResponse().end.error?.code == .cancelled)
        #expect(transport.transfer == nil)
    }

    private func check(_ before: [Action], then after: [Action]) async {
        let order = "\(before) then \(after)"
        let transport = ManualTransport(startActions: before)
        let (collector, task) = collector(over: transport)
        transport.onTaskAction = { apply($0, collector, task) }
        await withUnsafeContinuation { continuation in
            collector.run(resuming: continuation)
            guard let transfer = transport.transfer else { return }
            for action in after {
                if !transfer.perform(action) { apply(action, collector, task) }
            }
            if (before + after).contains(.cancel) {
                #expect(transfer.hasEnded, "\(order): cancelled and not ended")
            }
            if !task.pause.isPaused {
                #expect(!transfer.isPaused, "\(order): the transfer was not resumed")
            }
            // In every order, resuming the task and ending the transfer must end the run.
            task.pause.open()
            #expect(!transfer.isPaused, "\(order): the transfer is still paused")
            transfer.resumeReceiving()
            transfer.perform(.end)
        }
        let ends = transport.transfer?.ends ?? 0
        #expect(ends == 1, "\(order)")
        let cancelled = collector.takeResponse().end.error?.isCancellation ?? false
        if !(before + after).contains(.cancel) { #expect(!cancelled, "\(order)") }
        // The transfer is released.
        weak let transfer = transport.transfer
        transport.release()
        #expect(transfer == nil, "\(order): the transfer was not released")
    }

    private func apply(_ action: Action, _ collector: ResponseCollector, _ task: RequestTask) {
        switch action {
        case .suspend: task.pause.pause()
        case .resume: task.pause.open()
        case .cancel: collector.cancel()
        case .head, .bytes, .end: break
        }
    }

    private func collector(over transport: ManualTransport) -> (ResponseCollector, RequestTask) {
        let task = RequestTask.forTest(transport: transport)
        var request = PipelineRequest(task: task, request: TransportRequest(url: HTTPURL()))
        request.attempt = 1
        return (ResponseCollector(request, sent: request.request, captured: nil), task)
    }
}

/// A transport that follows the contract; the test performs its events.
private final class ManualTransport: Transport {
    let name = "manual"
    private let startActions: [ResponseCollectorTests.Action]
    private let state = Mutex<
        (
            transfer: ManualTransfer?,
            onTaskAction: (@Sendable (ResponseCollectorTests.Action) -> Void)?
        )
    >((nil, nil))

    init(startActions: [ResponseCollectorTests.Action]) { self.startActions = startActions }

    var transfer: ManualTransfer? { state.withLock { $0.transfer } }
    var onTaskAction: (@Sendable (ResponseCollectorTests.Action) -> Void)? {
        get { state.withLock { $0.onTaskAction } }
        set { state.withLock { $0.onTaskAction = newValue } }
    }

    func release() { state.withLock { $0 = (nil, nil) } }
    func check(_ request: TransportRequest) throws(RequestError) {}
    func shutDown() {}

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let transfer = ManualTransfer(receiver)
        state.withLock { $0.transfer = transfer }
        for action in startActions where !transfer.perform(action) { onTaskAction?(action) }
        return transfer
    }
}

private final class ManualTransfer: Transfer {
    private struct State {
        var receiver: (any TransferReceiver)?
        var hasHead = false
        var isPaused = false
        var ends = 0
    }

    private let state: Mutex<State>

    init(_ receiver: any TransferReceiver) { state = Mutex(State(receiver: receiver)) }

    var isPaused: Bool { state.withLock { $0.isPaused && $0.ends == 0 } }
    var hasEnded: Bool { state.withLock { $0.ends > 0 } }
    var ends: Int { state.withLock { $0.ends } }

    func cancel() { end(.cancelled) }
    func resumeReceiving() { state.withLock { $0.isPaused = false } }

    /// Performs an event of the transport; returns false for an action of the task.
    @discardableResult
    func perform(_ action: ResponseCollectorTests.Action) -> Bool {
        switch action {
        case .suspend, .resume, .cancel: return false
        case .head: head()
        case .bytes: bytes()
        case .end: if !isPaused { end(nil) }
        }
        return true
    }

    private func head() {
        let receiver = state.withLock { state -> (any TransferReceiver)? in
            guard !state.hasHead, !state.isPaused else { return nil }
            state.hasHead = true
            return state.receiver
        }
        receiver?.didReceive(head: ResponseHead(status: .ok))
    }

    private func bytes() {
        head()
        guard !isPaused, let receiver = state.withLock({ $0.receiver }) else { return }
        switch [UInt8(1), 2, 3].withUnsafeBytes({ receiver.didReceive(bytes: $0) }) {
        case .more: break
        case .pause: state.withLock { $0.isPaused = true }
        case .stop: end(.cancelled)
        }
    }

    private func end(_ error: RequestError?) {
        if error == nil { head() }
        let receiver = state.withLock { state -> (any TransferReceiver)? in
            guard let receiver = state.receiver else { return nil }
            state.receiver = nil
            state.ends += 1
            return receiver
        }
        receiver?.didEnd(TransferEnd(error: error))
    }
}
