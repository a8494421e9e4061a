#if os(Linux)
    import CLibcurl
    public import ErrandTransport

    /// A transport over connections that libcurl opens, on one thread, or on several with
    /// ``CurlConfiguration/loops``.
    ///
    /// It supports HTTP/1.1, HTTP/2 over TLS and HTTP/2 with prior knowledge, streaming request and
    /// response bodies, and time limits with a resolution of one millisecond. Connections, TLS
    /// sessions and parsed certificates are kept for later requests. The transport replaces the
    /// Host, Content-Length and Transfer-Encoding headers of a request with its own.
    ///
    /// The thread starts with the first request. It ends after the transport is released and its
    /// transfers have ended. Receivers are called on this thread, one call at a time; if several
    /// transfers end in one turn of the loop, their ends are reported from another thread. While the
    /// transport's thread sleeps, a request without a body may be sent from the thread that starts
    /// it, and a streamed body may be read on the thread of its reader; receivers are then called
    /// there. For example:
    ///
    ///     let agent = RequestAgent(transport: CurlTransport())
    public final class CurlTransport: Transport, ConnectionReporting {
        /// The configuration's name, `curl` by default.
        public let name: String

        /// The reports of established connections.
        public let connectionReports: ConnectionReports
        private let mailboxes: [Mailbox]
        /// Whether all requests to a host use one loop, because `connectionsPerHost` limits them.
        private let assignsHostsToOneLoop: Bool

        /// Creates a transport.
        ///
        /// It opens no connection and starts no thread until the first request.
        public init(configuration: CurlConfiguration = CurlConfiguration()) {
            name = configuration.name
            let reports = ConnectionReports(transport: configuration.name)
            connectionReports = reports
            assignsHostsToOneLoop = configuration.connectionsPerHost ?? 0 > 0
            let count = configuration.effectiveLoops
            mailboxes = (0..<count).map { index in
                let part = configuration.part(index, of: count)
                return Mailbox(name: part.name, isCounting: count > 1, reports: reports) { loop in
                    Engine(loop: loop, configuration: part) {
                        opened, assumedStreams, engine throws(RequestError) in
                        opened.speaksHTTP2
                            ? try HTTP2Connection(
                                opened, assumedStreams: assumedStreams, engine: engine)
                            : try HTTP1Connection(opened, engine: engine)
                    }
                }
            }
        }

        deinit { for mailbox in mailboxes { mailbox.close() } }

        /// Checks whether the transport can carry a request.
        ///
        /// - Throws: ``RequestError/Code/unsupported`` if the linked libcurl lacks a feature that
        ///   the request needs, ``RequestError/Code/invalidCombination`` for a HEAD request with a
        ///   body, and ``RequestError/Code/invalidConfiguration`` for invalid options.
        public func check(_ request: TransportRequest) throws(RequestError) {
            try RequestCheck(library: .linked).check(request)
        }

        /// Starts a transfer; the receiver is called on the transport's thread or another, one call
        /// at a time.
        public func start(
            _ request: TransportRequest, receiver: any TransferReceiver
        ) -> any Transfer {
            var source: Result<any BodySource, RequestError>?
            if let body = request.body {
                do throws(RequestError) {
                    source = .success(try body.makeSource(sendsTrailers: true))
                } catch {
                    source = .failure(error)
                }
            }
            let mailbox = mailbox(for: request)
            let transfer = CurlTransfer(
                request, source: source, receiver: receiver, mailbox: mailbox)
            mailbox.began()
            if !mailbox.post(.start(transfer), mayRunOnCaller: request.body == nil) {
                mailbox.ended()
                if case .success(let source) = source { source.close() }
                let error = mailbox.isGone ? CurlFailure.shutDown : CurlFailure.cannotStart
                receiver.didEnd(TransferEnd(error: error))
            }
            return transfer
        }

        /// Ends every active transfer, and each later one at once, with ``RequestError/Code/agentShutDown``, and closes
        /// all connections.
        public func shutDown() { for mailbox in mailboxes { _ = mailbox.post(.shutDown) } }

        /// The number of connections that are open or being opened, in use and idle.
        public var openConnections: Int { mailboxes.reduce(0) { $0 + $1.connections.value } }

        /// The number of turns that callers ran in place of the loop's thread.
        package var callerTurns: Int { mailboxes.reduce(0) { $0 + $1.callerTurns } }

        private func mailbox(for request: TransportRequest) -> Mailbox {
            guard mailboxes.count > 1 else { return mailboxes[0] }
            let usesHostLoop = assignsHostsToOneLoop || Self.mayShareConnection(request)
            let index =
                usesHostLoop
                ? LoopChoice.index(forHost: request.host, of: mailboxes.count)
                : LoopChoice.leastBusy(of: mailboxes.count) { mailboxes[$0].activeTransfers }
            return mailboxes[index]
        }

        /// Whether a request may share its connection with others.
        private static func mayShareConnection(_ request: TransportRequest) -> Bool {
            switch request.options.httpVersion {
            case .automatic, .http2: request.isSecure
            case .http11: false
            case .http2PriorKnowledge: true
            }
        }
    }

#else
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
