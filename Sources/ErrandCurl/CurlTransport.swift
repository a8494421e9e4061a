#if os(Linux)
    import CLibcurl
    public import ErrandCore

    /// Carries requests with libcurl's multi interface: one thread, however many transfers.
    ///
    /// HTTP/1.1, HTTP/2 over TLS or with prior knowledge; streaming both ways; every limit exact to the
    /// millisecond. Connections, TLS sessions and parsed certificates are kept for later requests. Host,
    /// Content-Length and Transfer-Encoding among a request's headers are replaced by the transport's own.
    ///
    /// The thread starts with the first request and ends when the transport is let go and its transfers have
    /// ended. Receivers are called on it, but for ends: several at once are told from a thread of the pool. For
    /// example:
    ///
    ///     let agent = RequestAgent(transport: CurlTransport())
    public final class CurlTransport: Transport {
        /// The configuration's name, `curl` by default.
        public let name: String

        private let mailbox: Mailbox

        /// Makes a transport.
        ///
        /// Nothing is opened or started yet.
        public init(configuration: CurlConfiguration = CurlConfiguration()) {
            name = configuration.name
            mailbox = Mailbox(configuration: configuration)
        }

        deinit { mailbox.close() }

        /// Throws ``RequestError/Code/unsupported`` when the linked libcurl cannot do what the request asks for,
        /// ``RequestError/Code/invalidCombination`` for a HEAD with a body, and
        /// ``RequestError/Code/invalidConfiguration`` for options that make no sense.
        public func check(_ request: TransportRequest) throws(RequestError) {
            try RequestCheck(library: .linked).check(request)
        }

        /// Begins the exchange; the receiver is called on the transport's thread, or for its end on another.
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
            let transfer = CurlTransfer(
                request, source: source, receiver: receiver, mailbox: mailbox)
            if !mailbox.post(.start(transfer)) {
                receiver.didEnd(TransferEnd(error: CurlFailure.cannotBegin))
            }
            return transfer
        }

        /// Ends every transfer with ``RequestError/Code/agentShutDown``; later ones end with it at once.
        public func shutDown() { _ = mailbox.post(.shutDown) }
    }
#endif
