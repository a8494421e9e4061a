#if os(Linux)
    import CLibcurl
    public import ErrandCore

    /// Carries requests with libcurl's multi interface: one thread, however many transfers, unless
    /// ``CurlConfiguration/loops`` asks for more.
    ///
    /// HTTP/1.1, HTTP/2 over TLS or with prior knowledge; streaming both ways; every limit exact to the
    /// millisecond. Connections, TLS sessions and parsed certificates are kept for later requests. Host,
    /// Content-Length and Transfer-Encoding among a request's headers are replaced by the transport's own.
    ///
    /// The thread starts with the first request and ends when the transport is let go and its transfers have
    /// ended. Receivers are called on it, one call at a time, but for ends: several at once are told from a thread of the
    /// pool. A request without a body may go out from the thread that starts it, while the transport's own sleeps. For
    /// example:
    ///
    ///     let agent = RequestAgent(transport: CurlTransport())
    public final class CurlTransport: Transport {
        /// The configuration's name, `curl` by default.
        public let name: String

        private let mailboxes: [Mailbox]
        /// Connections to a host are counted, so that they are all one loop's.
        private let keepsHostsTogether: Bool

        /// Makes a transport.
        ///
        /// Nothing is opened or started yet.
        public init(configuration: CurlConfiguration = CurlConfiguration()) {
            name = configuration.name
            keepsHostsTogether = configuration.connectionsPerHost ?? 0 > 0
            let count = configuration.effectiveLoops
            mailboxes = (0..<count).map { index in
                Mailbox(
                    configuration: configuration.part(index, of: count), isCounting: count > 1)
            }
        }

        deinit { for mailbox in mailboxes { mailbox.close() } }

        /// Throws ``RequestError/Code/unsupported`` when the linked libcurl cannot do what the request asks for,
        /// ``RequestError/Code/invalidCombination`` for a HEAD with a body, and
        /// ``RequestError/Code/invalidConfiguration`` for options that make no sense.
        public func check(_ request: TransportRequest) throws(RequestError) {
            try RequestCheck(library: .linked).check(request)
        }

        /// Begins the exchange; the receiver is called on the transport's thread, or on another, one call at a time.
        public func start(
            _ request: TransportRequest, receiver: any TransferReceiver
        ) -> any Transfer {
            var source: Result<any BodySource, RequestError>?
            if let body = request.body {
                do throws(RequestError) {
                    source = .success(try body.makeSource())
                } catch {
                    source = .failure(error)
                }
            }
            let mailbox = mailbox(for: request)
            let transfer = CurlTransfer(
                request, source: source, receiver: receiver, mailbox: mailbox)
            mailbox.began()
            if !mailbox.post(.start(transfer), mayLend: request.body == nil) {
                mailbox.ended()
                if case .success(let source) = source { source.close() }
                receiver.didEnd(TransferEnd(error: CurlFailure.cannotBegin))
            }
            return transfer
        }

        /// Ends every transfer with ``RequestError/Code/agentShutDown``; later ones end with it at once.
        public func shutDown() { for mailbox in mailboxes { _ = mailbox.post(.shutDown) } }

        /// How many requests have gone out from the threads that started them.
        package var lentTurns: Int { mailboxes.reduce(0) { $0 + $1.lentTurns } }

        private func mailbox(for request: TransportRequest) -> Mailbox {
            guard mailboxes.count > 1 else { return mailboxes[0] }
            let isTogether = keepsHostsTogether || Exchange.sharesConnections(request)
            let index =
                isTogether
                ? LoopChoice.index(forHost: request.host, of: mailboxes.count)
                : LoopChoice.leastBusy(of: mailboxes.count) { mailboxes[$0].underWay }
            return mailboxes[index]
        }
    }
#endif
