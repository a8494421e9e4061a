import Errand
import ErrandTransport
import Synchronization

/// Runs the transport without pipeline and endpoint classes, to separate their costs.
final class BareRun: Sendable {
    private struct State {
        var started = 0
        var finished = 0
        var bad = 0
        var done: CheckedContinuation<Int, Never>?
    }

    private let state = Mutex(State())
    private let job: Job
    private let request: TransportRequest
    private let transport: any Transport

    init(_ job: Job, transport: any Transport, url: HTTPURL) {
        self.job = job
        self.transport = transport
        request = TransportRequest(
            method: job.upload == nil ? .get : .put, url: url, body: job.upload.map { .file($0) },
            options: job.options)
    }

    func run() async -> Int {
        await withCheckedContinuation { continuation in
            state.withLock { $0.done = continuation }
            for _ in 0..<job.inFlight { startNext() }
        }
    }

    fileprivate func end(status: Int, bytes: Int) {
        let done = state.withLock { state in
            state.finished += 1
            if status != 200 || bytes != job.size { state.bad += 1 }
            guard state.finished == job.count else { return Optional<() -> Void>.none }
            let (done, bad) = (state.done, state.bad)
            state.done = nil
            return { done?.resume(returning: bad) }
        }
        if let done { done() } else { startNext() }
    }

    private func receiver() -> Receiver { Receiver(self, keepsBytes: job.workload != "W6d") }

    private func startNext() {
        let isLeft = state.withLock { state in
            state.started += 1
            return state.started <= job.count
        }
        if isLeft { _ = transport.start(request, receiver: receiver()) }
    }
}

/// Collects one response.
private final class Receiver: TransferReceiver {
    private let response = Mutex<(status: Int, bytes: [UInt8], count: Int)>((0, [], 0))
    private let run: BareRun
    private let keepsBytes: Bool

    init(_ run: BareRun, keepsBytes: Bool) { (self.run, self.keepsBytes) = (run, keepsBytes) }

    func didReceive(head: ResponseHead) {
        response.withLock { $0.status = head.status.code }
    }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        response.withLock { response in
            if keepsBytes { response.bytes.append(contentsOf: bytes) }
            response.count += bytes.count
        }
        return .more
    }

    func didEnd(_ end: TransferEnd) {
        let (status, bytes) = response.withLock { ($0.status, $0.count) }
        run.end(status: end.error == nil ? status : 0, bytes: bytes)
    }
}
