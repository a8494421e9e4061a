#if !os(Linux)
    public import ErrandTransport

    /// Refuses every request on platforms without epoll.
    ///
    /// Use `URLSessionTransport` on this platform.
    public final class CurlTransport: Transport {
        /// The configuration's name, `curl` by default.
        public let name: String

        /// Creates a transport that refuses every request.
        public init(configuration: CurlConfiguration = CurlConfiguration()) {
            name = configuration.name
        }

        /// Throws ``RequestError/Code/unsupported``.
        public func check(_ request: TransportRequest) throws(RequestError) { throw Self.refusal }

        /// Ends at once with ``RequestError/Code/unsupported``.
        public func start(
            _ request: TransportRequest, receiver: any TransferReceiver
        ) -> any Transfer {
            receiver.didEnd(TransferEnd(error: Self.refusal))
            return EndedTransfer()
        }

        /// Does nothing: this transport never has active transfers.
        public func shutDown() {}

        private static var refusal: RequestError {
            RequestError(
                .unsupported, stage: .transport,
                "CurlTransport needs Linux. Use URLSessionTransport on this platform.")
        }
    }

    private final class EndedTransfer: Transfer {
        func cancel() {}
        func resumeReceiving() {}
    }
#endif
