public import ErrandHTTP
import Synchronization

/// A limit of the bytes per second that the transfers of one or more transports receive together.
///
///     let limit = BandwidthLimit(bytesPerSecond: 1_000_000)
///     let agent = RequestAgent(transport: limit.transport(over: CurlTransport()))
///     limit.bytesPerSecond = nil  // from now on as fast as possible
///
/// The bytes of response bodies count, after content decoding; heads and request bodies do not. Transfers in progress
/// are delayed by back-pressure: the transport stops to read, and the server stops to send. ``Timeouts/idle`` does not
/// count meanwhile. A limit may be used from any thread.
public final class BandwidthLimit: Sendable {
    private struct State {
        var schedule: BandwidthSchedule
        /// The transfers that wait, and the tasks that end their waits.
        var waiting: [ObjectIdentifier: Wait] = [:]
    }

    private struct Wait {
        let transfer: LimitedTransfer
        /// Distinguishes this wait from a later one of the same transfer.
        let end: Duration
        var timer: Task<Void, Never>?
    }

    private let clock: any RequestClock
    private let state: Mutex<State>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The number of bytes per second, at least 1; `nil` is no limit.
    ///   - clock: The clock that measures the time.
    public init(bytesPerSecond: Int64?, clock: any RequestClock = SystemClock()) {
        self.clock = clock
        state = Mutex(State(schedule: BandwidthSchedule(bytesPerSecond: bytesPerSecond)))
    }

    /// The number of bytes per second, at least 1; `nil` is no limit.
    ///
    /// A change has an effect at once, also on transfers in progress.
    public var bytesPerSecond: Int64? {
        get { state.withLock { $0.schedule.bytesPerSecond } }
        set {
            let waiting = state.withLock { state in
                state.schedule.change(to: newValue)
                defer { state.waiting = [:] }
                return state.waiting.values
            }
            for wait in waiting {
                wait.timer?.cancel()
                wait.transfer.continueReceiving()
            }
        }
    }

    /// A transport that delays the transfers of another one.
    ///
    /// - Parameter transport: Performs the transfers.
    public func transport(over transport: any Transport) -> any Transport {
        LimitedTransport(transport, self)
    }

    var uptime: Duration { clock.uptime }

    /// Counts bytes of a transfer.
    ///
    /// - Returns: Whether the transfer has to wait: then its `continueReceiving` will be called, unless ``forget(_:)``
    ///   is called before.
    func count(_ bytes: Int, of transfer: LimitedTransfer) -> Bool {
        let id = ObjectIdentifier(transfer)
        let wait: (end: Duration, duration: Duration)? = state.withLock { state in
            let now = clock.uptime
            guard let end = state.schedule.count(Int64(bytes), at: now) else { return nil }
            state.waiting[id] = Wait(transfer: transfer, end: end)
            return (end, end - now)
        }
        guard let (end, duration) = wait else { return false }
        let timer = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: duration)) != nil else { return }
            self?.take(id, end)?.continueReceiving()
        }
        let isWaiting = state.withLock { state in
            guard state.waiting[id]?.end == end else { return false }
            state.waiting[id]?.timer = timer
            return true
        }
        if !isWaiting { timer.cancel() }
        return true
    }

    /// Ends the wait of a transfer that has ended.
    func forget(_ transfer: LimitedTransfer) {
        let wait = state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(transfer)) }
        wait?.timer?.cancel()
    }

    /// Ends a wait whose time is over; `nil` if it has ended before.
    private func take(_ id: ObjectIdentifier, _ end: Duration) -> LimitedTransfer? {
        state.withLock { state in
            guard state.waiting[id]?.end == end else { return nil }
            return state.waiting.removeValue(forKey: id)?.transfer
        }
    }
}

/// Delays the transfers of another transport.
private final class LimitedTransport: ConnectionReporting {
    private let inner: any Transport
    private let limit: BandwidthLimit
    let connectionReports: ConnectionReports

    var name: String { inner.name }

    init(_ inner: any Transport, _ limit: BandwidthLimit) {
        self.inner = inner
        connectionReports = ConnectionReports.of(inner)
        self.limit = limit
    }

    func check(_ request: TransportRequest) throws(RequestError) { try inner.check(request) }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let transfer = LimitedTransfer(receiver, limit)
        transfer.begin(inner.start(request, receiver: transfer))
        return transfer
    }

    func shutDown() { inner.shutDown() }
}
