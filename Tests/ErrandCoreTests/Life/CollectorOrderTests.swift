import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandCore

/// What may happen to one transfer, in every order, before and after the transport's `start` returns.
@Suite(.timeLimit(.minutes(5))) struct CollectorOrderTests {
    enum Action: CaseIterable { case head, bytes, suspend, resume, cancel, end }

    @Test func everyOrderEndsOnceAndNoWakeUpIsLost() async {
        for length in 0...4 {
            for order in orders(of: length) {
                for split in 0...length {
                    await play(Array(order[..<split]), then: Array(order[split...]))
                }
            }
        }
    }

    @Test func whatIsCancelledBeforeItBeginsIsNotStarted() async {
        let transport = ObedientTransport(inStart: [])
        let (collector, _) = collector(over: transport)
        collector.cancel()
        await withUnsafeContinuation {
            collector.run(TransportRequest(url: URI()), resuming: $0)
        }
        #expect(collector.takeAnswer().end.error?.code == .cancelled)
        #expect(transport.transfer == nil)
    }

    private func play(_ before: [Action], then after: [Action]) async {
        let order = "\(before) then \(after)"
        let transport = ObedientTransport(inStart: before)
        let (collector, context) = collector(over: transport)
        transport.onOther = { apply($0, collector, context) }
        await withUnsafeContinuation { continuation in
            collector.run(TransportRequest(url: URI()), resuming: continuation)
            guard let transfer = transport.transfer else { return }
            for action in after {
                if !transfer.perform(action) { apply(action, collector, context) }
            }
            if (before + after).contains(.cancel) {
                #expect(transfer.hasEnded, "\(order): cancelled and not ended")
            }
            if !context.pause.isPaused {
                #expect(!transfer.isHeld, "\(order): nobody told the transfer to go on")
            }
            // Whatever comes: an open gate and an end must lead to the end.
            context.pause.open()
            #expect(!transfer.isHeld, "\(order): the transfer still waits")
            transfer.resumeReceiving()
            transfer.perform(.end)
        }
        let ends = transport.transfer?.ends ?? 0
        #expect(ends == 1, "\(order)")
        let cancelled = collector.takeAnswer().end.error?.isCancellation ?? false
        if !(before + after).contains(.cancel) { #expect(!cancelled, "\(order)") }
        // Nothing of the transfer stays behind.
        weak let transfer = transport.transfer
        transport.forget()
        #expect(transfer == nil, "\(order): the transfer is kept")
    }

    private func apply(_ action: Action, _ collector: ResponseCollector, _ context: TaskContext) {
        switch action {
        case .suspend: context.pause.pause()
        case .resume: context.pause.open()
        case .cancel: collector.cancel()
        case .head, .bytes, .end: break
        }
    }

    private func collector(over transport: ObedientTransport) -> (ResponseCollector, TaskContext) {
        let context = TaskContext(
            id: UUID(), description: RequestDescription(endpoint: "Test", url: ""),
            configuration: Configuration(), transport: transport, store: nil, clock: ManualClock())
        let collector = ResponseCollector(context: context, sink: nil, attempt: 1, limit: 1 << 20)
        return (collector, context)
    }

    private func orders(of length: Int) -> [[Action]] {
        guard length > 0 else { return [[]] }
        return orders(of: length - 1).flatMap { order in Action.allCases.map { order + [$0] } }
    }
}

/// Does what the contract asks of a transport, and what happens is said by the test.
private final class ObedientTransport: Transport {
    let name = "obedient"
    private let inStart: [CollectorOrderTests.Action]
    private let state = Mutex<
        (transfer: ObedientTransfer?, onOther: (@Sendable (CollectorOrderTests.Action) -> Void)?)
    >((nil, nil))

    init(inStart: [CollectorOrderTests.Action]) { self.inStart = inStart }

    var transfer: ObedientTransfer? { state.withLock { $0.transfer } }
    var onOther: (@Sendable (CollectorOrderTests.Action) -> Void)? {
        get { state.withLock { $0.onOther } }
        set { state.withLock { $0.onOther = newValue } }
    }

    func forget() { state.withLock { $0 = (nil, nil) } }
    func check(_ request: TransportRequest) throws(RequestError) {}
    func shutDown() {}

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let transfer = ObedientTransfer(receiver)
        state.withLock { $0.transfer = transfer }
        for action in inStart where !transfer.perform(action) { onOther?(action) }
        return transfer
    }
}

private final class ObedientTransfer: Transfer {
    private struct State {
        var receiver: (any TransferReceiver)?
        var hasHead = false
        var isHeld = false
        var ends = 0
    }

    private let state: Mutex<State>

    init(_ receiver: any TransferReceiver) { state = Mutex(State(receiver: receiver)) }

    var isHeld: Bool { state.withLock { $0.isHeld && $0.ends == 0 } }
    var hasEnded: Bool { state.withLock { $0.ends > 0 } }
    var ends: Int { state.withLock { $0.ends } }

    func cancel() { end(.cancelled) }
    func resumeReceiving() { state.withLock { $0.isHeld = false } }

    /// Does what is the transport's to do; false for what is not.
    @discardableResult
    func perform(_ action: CollectorOrderTests.Action) -> Bool {
        switch action {
        case .suspend, .resume, .cancel: return false
        case .head: head()
        case .bytes: bytes()
        case .end: if !isHeld { end(nil) }
        }
        return true
    }

    private func head() {
        let receiver = state.withLock { state -> (any TransferReceiver)? in
            guard !state.hasHead, !state.isHeld else { return nil }
            state.hasHead = true
            return state.receiver
        }
        receiver?.didReceive(head: ResponseHead(status: .ok))
    }

    private func bytes() {
        head()
        guard !isHeld, let receiver = state.withLock({ $0.receiver }) else { return }
        switch [UInt8(1), 2, 3].withUnsafeBytes({ receiver.didReceive(bytes: $0) }) {
        case .more: break
        case .pause: state.withLock { $0.isHeld = true }
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
