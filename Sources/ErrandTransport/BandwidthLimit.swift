public import ErrandHTTP

/// A limit of the bytes per second that the transfers of one or more transports receive, and of those that they send,
/// together.
///
///     let limit = BandwidthLimit(bytesPerSecond: 1_000_000, uploadBytesPerSecond: 200_000)
///     let agent = RequestAgent(transport: limit.transport(over: CurlTransport()))
///     limit.bytesPerSecond = nil  // from now on as fast as possible
///
/// The bytes of bodies count: those of responses after content decoding, those of requests as they are read, whatever
/// the kind of the body. Heads do not count. Bytes are passed on when their time has come, so that no transfer, however
/// short, is faster than the limit; a wait that ends late is made up for, by at most 100 ms. Transfers in progress are
/// delayed by back-pressure: the transport stops to read, and the server stops to send. ``Timeouts/idle`` does not count
/// meanwhile. A limit may be used from any thread.
///
/// `URLSessionTransport` cannot pause a request body: it reads a limited one at this speed into a temporary file, as it
/// does with streams, and then sends that as fast as the network allows.
public final class BandwidthLimit: Sendable {
    let receiving: BandwidthLane
    let sending: BandwidthLane

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The number of received bytes per second, at least 1; `nil` is no limit.
    ///   - uploadBytesPerSecond: The number of sent bytes per second, at least 1; `nil`, the default, is no limit.
    ///   - clock: The clock that measures the time.
    public init(
        bytesPerSecond: Int64?, uploadBytesPerSecond: Int64? = nil,
        clock: any RequestClock = SystemClock()
    ) {
        receiving = BandwidthLane("bytesPerSecond", bytesPerSecond: bytesPerSecond, clock: clock)
        sending = BandwidthLane(
            "uploadBytesPerSecond", bytesPerSecond: uploadBytesPerSecond, clock: clock)
    }

    init(receiving: BandwidthLane, sending: BandwidthLane) {
        self.receiving = receiving
        self.sending = sending
    }

    /// The number of received bytes per second; `nil` is no limit.
    ///
    /// A change has an effect at once, also on transfers in progress. With a number below 1, requests fail with
    /// ``RequestError/Code/invalidConfiguration``: new ones before anything is sent, those in progress with their next
    /// bytes.
    public var bytesPerSecond: Int64? {
        get { receiving.bytesPerSecond }
        set { receiving.bytesPerSecond = newValue }
    }

    /// The number of sent bytes per second; `nil` is no limit.
    ///
    /// Changes have the effect of those of ``bytesPerSecond``.
    public var uploadBytesPerSecond: Int64? {
        get { sending.bytesPerSecond }
        set { sending.bytesPerSecond = newValue }
    }

    /// A transport that delays the transfers of another one.
    ///
    /// - Parameter transport: Performs the transfers.
    public func transport(over transport: any Transport) -> any Transport {
        LimitedTransport(transport, self)
    }

    /// Throws ``RequestError/Code/invalidConfiguration`` if a limit is below 1.
    package func check() throws(RequestError) {
        try receiving.check()
        try sending.check()
    }
}

extension BandwidthLimit: BodyPace {}

extension HTTPBody {
    /// The body, of which each attempt is sent no faster than ``BandwidthLimit/uploadBytesPerSecond``.
    ///
    /// For one endpoint; ``BandwidthLimit/transport(over:)`` limits all requests of an agent. With both, the lower limit
    /// counts. Every kind of body can be limited, such as files, streams and multipart forms, with every transport.
    ///
    ///     override var body: HTTPBody? { .file(movie).limited(by: slow) }
    public func limited(by limit: BandwidthLimit) -> HTTPBody {
        var body = self
        body.paces.append(limit)
        return body
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

    func check(_ request: TransportRequest) throws(RequestError) {
        try limit.check()
        try inner.check(request)
    }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let transfer = LimitedTransfer(receiver, limit.receiving)
        var request = request
        request.body = request.body?.limited(by: limit)
        transfer.begin(inner.start(request, receiver: transfer))
        return transfer
    }

    func shutDown() { inner.shutDown() }
}
