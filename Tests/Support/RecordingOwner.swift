import ErrandCurl
package import ErrandTransport
package import Foundation
package import Synchronization
import Testing

/// The receiver of a request that switches protocols: it records what it receives; its output is a
/// stream.
package final class RecordingOwner: ConnectionOwner {
    package struct Record: Sendable {
        package var heads: [ResponseHead] = []
        package var finalHeads = 0
        package var input = Data()
        package var hasInputEnded = false
        package var ends: [TransferEnd] = []
    }

    private let output: AsyncStream<Data>
    package let sending: AsyncStream<Data>.Continuation
    private let record = Mutex(Record())
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation
    /// The result of the next calls with bytes.
    package let demand = Mutex(Demand.more)

    private let source: (any BodySource)?
    package let extendedProtocol: String?

    /// - Parameter source: The source of the output; `nil` for a stream, which ``send(_:)`` fills.
    package init(source: (any BodySource)? = nil, extendedProtocol: String? = nil) {
        self.source = source
        self.extendedProtocol = extendedProtocol
        (output, sending) = AsyncStream<Data>.makeStream()
        (changes, changed) = AsyncStream<Void>.makeStream()
    }

    private func change(_ change: (inout Record) -> Void) {
        record.withLock { change(&$0) }
        changed.yield()
    }

    package func send(_ text: String) { sending.yield(Data(text.utf8)) }

    /// Waits until the record has a property, and returns it.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    package func until(_ condition: (Record) -> Bool) async throws -> Record {
        var iterator = changes.makeAsyncIterator()
        while true {
            let record = record.withLock { $0 }
            if condition(record) { return record }
            guard await iterator.next() != nil else { throw CancellationError() }
        }
    }

    package func didSwitchProtocols(_ head: ResponseHead) -> any BodySource {
        change { $0.heads.append(head) }
        if let source { return source }
        let output = output
        do {
            return try HTTPBody.stream { output }.makeSource()
        } catch {
            Issue.record(error)
            return FailingSource(error: error)
        }
    }

    package func didReceiveEnd() { change { $0.hasInputEnded = true } }
    package func didReceive(head: ResponseHead) { change { $0.finalHeads += 1 } }
    package func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        change { $0.input.append(contentsOf: bytes) }
        return demand.withLock { $0 }
    }
    package func didEnd(_ end: TransferEnd) { change { $0.ends.append(end) } }
}

/// A body source that fails.
package final class FailingSource: BodySource {
    package let error: RequestError
    package init(error: RequestError) { self.error = error }
    package var length: Int64? { nil }
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead { .failed(error) }
    package func whenReadable(_ notify: @escaping @Sendable () -> Void) { notify() }
    package func rewind() -> Bool { false }
    package func close() {}
}

/// A body without bytes, which ends on a signal.
package final class EndingSource: BodySource {
    private let state = Mutex<(hasEnded: Bool, notify: (@Sendable () -> Void)?)>((false, nil))
    private let (ends, ended) = AsyncStream<Void>.makeStream()
    package var length: Int64? { nil }

    package init() {}

    /// Ends the body, and waits until its reader has found the end.
    package func end() async {
        let notify = state.withLock { state in
            state.hasEnded = true
            return state.notify
        }
        notify?()
        for await _ in ends {}
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        guard state.withLock({ $0.hasEnded }) else { return .wait }
        ended.finish()
        return .end
    }

    package func whenReadable(_ notify: @escaping @Sendable () -> Void) {
        let isReadable = state.withLock { state in
            state.notify = notify
            return state.hasEnded
        }
        if isReadable { notify() }
    }

    package func rewind() -> Bool { false }
    package func close() {}
}
