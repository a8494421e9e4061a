package import ErrandCore
package import ErrandCurl
package import ErrandTransport
package import Foundation
import Synchronization

/// A receiver with the channel of a body, as the pipeline uses it.
package final class ChannelReceiver: StreamReceiver {
    private struct State {
        var transfer: (any Transfer)?
        var channel: BodyChannel?
        var waiter: CheckedContinuation<BodyChannel, Never>?
        var ends = 0
        var passedChunks = 0
        var error: RequestError?
    }

    private let state = Mutex(State())

    package init() {}

    package var ends: Int { state.withLock { $0.ends } }
    /// The number of chunks that were taken without a copy.
    package var passedChunks: Int { state.withLock { $0.passedChunks } }
    package var error: RequestError? { state.withLock { $0.error } }

    package func start(_ transport: CurlTransport, _ request: TransportRequest) {
        let transfer = transport.start(request, receiver: self)
        state.withLock { $0.transfer = transfer }
    }

    package func channel() async -> BodyChannel {
        await withCheckedContinuation { continuation in
            let channel = state.withLock { state in
                if state.channel == nil { state.waiter = continuation }
                return state.channel
            }
            if let channel { continuation.resume(returning: channel) }
        }
    }

    private func transfer() -> (any Transfer)? { state.withLock { $0.transfer } }

    package func didReceive(head: ResponseHead) { begin() }

    @discardableResult
    private func begin() -> BodyChannel {
        let channel = BodyChannel(
            resume: { [weak self] in self?.transfer()?.resumeReceiving() },
            receive: { [weak self] in (self?.transfer() as? any ReadableTransfer)?.receiveOnCaller()
            },
            cancel: { [weak self] in self?.transfer()?.cancel() })
        channel.whenOver { end in channel.close(end.error) }
        let waiter = state.withLock { state in
            state.channel = channel
            return state.waiter.take()
        }
        waiter?.resume(returning: channel)
        return channel
    }

    private var current: BodyChannel? { state.withLock { $0.channel } }

    package func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        current?.receive(bytes) ?? .stop
    }

    package func didReceive(chunk: Data) -> Demand {
        state.withLock { $0.passedChunks += 1 }
        return current?.receive(chunk) ?? .stop
    }

    package func beginRead() { current?.beginRead() }

    package func endRead() -> Demand { current?.endRead() ?? .more }

    package var waitingTime: Duration? { current?.waitingTime }

    // A transfer that fails before its head has a channel with its error.
    package func didEnd(_ end: TransferEnd) {
        state.withLock { ($0.error, $0.ends) = (end.error, $0.ends + 1) }
        (current ?? begin()).transferEnded(end)
    }
}
