import ErrandTesting
import ErrandTransport
import Foundation

/// A receiver that runs a closure on the transport's thread immediately before its request is
/// written, when the connection is ready.
///
/// The request needs a report-only pin that does not match; see ``pins(for:)``.
final class BeforeSending: TransferReceiver {
    let recorder = RecordingReceiver()
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    /// A report-only pin that no certificate of the host matches.
    static func pins(for host: String) -> [SecurityPolicy.Pins] {
        let key = Data(repeating: 0, count: 32).base64EncodedString()
        return [SecurityPolicy.Pins(host, publicKeys: [key], isReportOnly: true)]
    }

    func didNotice(_ mismatch: PinMismatch) { action() }

    func didReceive(informational head: ResponseHead) { recorder.didReceive(informational: head) }

    func didReceive(head: ResponseHead) { recorder.didReceive(head: head) }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand { recorder.didReceive(bytes: bytes) }

    func didSend(bodyBytes: Int64) { recorder.didSend(bodyBytes: bodyBytes) }

    func didEnd(_ end: TransferEnd) { recorder.didEnd(end) }
}

extension Transport {
    /// Waits for the end of a request from a synchronous callback.
    func runBlocking(_ request: TransportRequest) {
        let hasEnded = DispatchSemaphore(value: 0)
        _ = start(request, receiver: EndSignal { hasEnded.signal() })
        hasEnded.wait()
    }
}

private final class EndSignal: TransferReceiver {
    private let signal: @Sendable () -> Void

    init(_ signal: @escaping @Sendable () -> Void) { self.signal = signal }

    func didReceive(head: ResponseHead) {}
    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand { .more }
    func didEnd(_ end: TransferEnd) { signal() }
}
