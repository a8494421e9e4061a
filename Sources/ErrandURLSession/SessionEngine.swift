import ErrandHTTP
import ErrandOpenSSL
import ErrandTransport
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Owns a transport's session and active transfers, and limits the connections to each origin.
final class SessionEngine: Sendable {
    /// What the requests with one security policy share.
    private struct PolicySession {
        let trust: SessionTrust
        /// `nil` while all of them have a session of their own.
        let session: URLSession?
    }

    private struct State {
        /// The sessions of the policies: a connection that one policy accepted is used by its requests only.
        var sessions = SessionTable<SharedSecurity?, PolicySession>(limit: 16)
        var connectionLimit: OriginConnectionLimit
        var transfers: [ObjectIdentifier: URLSessionTransfer] = [:]
        /// Sessions that serve one request each, because sessions share no connections.
        var dedicatedSessions: [ObjectIdentifier: URLSession] = [:]
        /// Transfers that count towards the connection limit.
        var admitted: Set<ObjectIdentifier> = []
        var isShutDown = false
    }

    private let control = DispatchQueue(label: "errand.urlsession.control")
    private let delivery = DispatchQueue(
        label: "errand.urlsession.delivery", attributes: .concurrent)
    private let delegate: SessionDelegate
    private let configuration: URLSessionConfiguration
    /// The headers that the configuration adds to requests; their names are in lower case.
    private let additionalHeaders: [String: String]
    private let reusesConnections: Bool
    private let state: Mutex<State>

    init(_ original: URLSessionConfiguration, reusesConnections: Bool) {
        self.reusesConnections = reusesConnections
        let configuration = original.copy() as? URLSessionConfiguration ?? .default
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        self.configuration = configuration
        additionalHeaders = Dictionary(
            (configuration.httpAdditionalHeaders ?? [:]).compactMap { name, value in
                (name as? String).map { ($0.lowercasedASCII(), value as? String ?? "") }
            }, uniquingKeysWith: { one, _ in one })
        delegate = SessionDelegate(control: control)
        state = Mutex(
            State(
                connectionLimit: OriginConnectionLimit(
                    limit: configuration.httpMaximumConnectionsPerHost)))
    }

    func start(
        _ request: TransportRequest, receiver: any TransferReceiver
    ) -> URLSessionTransfer {
        let transfer = URLSessionTransfer(
            request, receiver: receiver,
            context: .init(
                control: control, delivery: delivery,
                // A strong reference: waiting transfers still start after the transport is released.
                finished: { [self] transfer in finished(transfer) }))
        let id = ObjectIdentifier(transfer)
        let (isShutDown, isAdmitted) = state.withLock { state in
            state.transfers[id] = transfer
            guard !state.isShutDown else { return (true, false) }
            let isAdmitted =
                !isLimited(request) || state.connectionLimit.acquire(request.url.origin, id)
            if isAdmitted { state.admitted.insert(id) }
            return (false, isAdmitted)
        }
        if isShutDown {
            transfer.abort(Self.shutDownError)
        } else if let refusal = URLSessionRefusals.refusal(of: request) {
            transfer.abort(refusal)
        } else if isAdmitted {
            transfer.watchDeadlines()
            control.async { [self] in prepare(transfer) }
        } else {
            transfer.watchWait()
        }
        return transfer
    }

    func shutDown() {
        let transfers = state.withLock { state in
            state.isShutDown = true
            return Array(state.transfers.values)
        }
        for transfer in transfers { transfer.abort(Self.shutDownError) }
        control.async { [self] in
            let sessions = state.withLock { $0.sessions.removeAll() }
            for shared in sessions { shared.session?.finishTasksAndInvalidate() }
        }
    }

    deinit {
        // A callback of the session may release the last reference, so the session is ended asynchronously.
        let sessions = state.withLock { $0.sessions.removeAll() }
        control.async { for shared in sessions { shared.session?.finishTasksAndInvalidate() } }
    }

    private static var shutDownError: RequestError {
        RequestError(
            .agentShutDown, stage: .transport,
            "The transport was shut down. Use another one for new requests.")
    }

    /// Whether the connection limit applies.
    ///
    /// In the shared session, HTTP/2 can multiplex requests over TLS on one connection.
    private func isLimited(_ request: TransportRequest) -> Bool {
        request.url.scheme == "http" || hasOwnConnection(request)
    }

    /// Whether the request has a session, and so a connection, of its own.
    private func hasOwnConnection(_ request: TransportRequest) -> Bool {
        !reusesConnections || !request.mayBeReplayed
    }
}

// MARK: - On the control queue

extension SessionEngine {
    private func prepare(_ transfer: URLSessionTransfer) {
        guard !transfer.isOver else { return transfer.finish() }
        guard let body = transfer.request.body else { return launch(transfer) }
        // User code creates the stream, and may block until this queue has done other work.
        if body.mayWait { return delivery.async { [self] in open(body, for: transfer) } }
        open(body, for: transfer)
    }

    private func open(_ body: HTTPBody, for transfer: URLSessionTransfer) {
        do throws(RequestError) {
            let source = try body.makeSource()
            transfer.attach(source)
            if body.mayWait {
                spool(source, for: transfer)
            } else {
                launch(transfer)
            }
        } catch {
            transfer.abort(error)
        }
    }

    private func spool(_ source: any BodySource, for transfer: URLSessionTransfer) {
        BodyBuffer(source, queue: delivery, activity: { [weak transfer] in transfer?.active() }) {
            [control] result in
            control.async { [self] in
                switch result {
                case .success(let spooled):
                    transfer.attach(spooled)
                    launch(transfer)
                case .failure(let error):
                    transfer.abort(error)
                }
            }
        }.run()
    }

    private func launch(_ transfer: URLSessionTransfer) {
        guard !transfer.isOver, let url = WireRequest.url(of: transfer.request) else {
            return transfer.finish()
        }
        let session: URLSession
        do throws(RequestError) {
            session = try self.session(for: transfer)
        } catch {
            return transfer.abort(error)
        }
        let stream = transfer.firstStream()
        let length = transfer.bodyLength
        var request = WireRequest.make(
            transfer.request, url: url, bodyLength: length, additional: additionalHeaders)
        request.httpBodyStream = stream
        let task = session.dataTask(with: request)
        delegate.attach(transfer, to: task)
        transfer.attach(task)
        task.resume()
    }

    private func session(for transfer: URLSessionTransfer) throws(RequestError) -> URLSession {
        let security = transfer.request.options.sharedSecurity
        let known = state.withLock { $0.sessions.value(for: security) }
        let trust: SessionTrust
        if let known { trust = known.trust } else { trust = try SessionTrust(security) }
        transfer.trust(by: trust)
        let isOwn = hasOwnConnection(transfer.request)
        if !isOwn, let session = known?.session { return session }
        let session = makeSession(trust)
        let removed = state.withLock { state in
            if isOwn { state.dedicatedSessions[ObjectIdentifier(transfer)] = session }
            if isOwn, known != nil { return PolicySession?.none }
            return state.sessions.insert(
                PolicySession(trust: trust, session: isOwn ? nil : session), for: security)
        }
        removed?.session?.finishTasksAndInvalidate()
        return session
    }

    #if os(Linux)
        /// Skips the cleanup of OpenSSL, once for the process; Foundation's libcurl initializes OpenSSL with the first
        /// session.
        private static let skipOpenSSLCleanup: Void = {
            for library in OpenSSL.loaded { library.skipCleanup() }
        }()
    #endif

    private func makeSession(_ trust: SessionTrust) -> URLSession {
        #if os(Linux)
            Self.skipOpenSSLCleanup
        #endif
        let queue = InlineOperationQueue()
        queue.maxConcurrentOperationCount = 1
        return URLSession(
            configuration: trust.applied(to: configuration), delegate: delegate,
            delegateQueue: queue)
    }

    /// Removes a transfer whose task has ended and starts the next waiting one.
    ///
    /// Called once for each transfer, on any queue.
    private func finished(_ transfer: URLSessionTransfer) {
        let id = ObjectIdentifier(transfer)
        let (next, dedicated) = state.withLock { state in
            state.transfers[id] = nil
            let dedicated = state.dedicatedSessions.removeValue(forKey: id)
            guard isLimited(transfer.request) else {
                return (URLSessionTransfer?.none, dedicated)
            }
            let origin = transfer.request.url.origin
            guard state.admitted.remove(id) != nil else {
                _ = state.connectionLimit.removeWaiter(origin, id)
                return (nil, dedicated)
            }
            let nextID = state.connectionLimit.release(origin)
            if let nextID { state.admitted.insert(nextID) }
            return (nextID.flatMap { state.transfers[$0] }, dedicated)
        }
        // Not on the control queue, which a busy session may block.
        next?.watchDeadlines()
        control.async { [self] in
            dedicated?.finishTasksAndInvalidate()
            if let next { prepare(next) }
        }
    }
}

extension TransportRequest {
    /// Whether the request may be sent again, from the first byte of its body, if its connection is lost before
    /// the response.
    ///
    /// FoundationNetworking (Swift 6.3.1): if the server closes a reused connection after it read a request,
    /// libcurl sends the request again. A body stream can refuse to be read again, but the head is sent before.
    /// Therefore a request that must not be replayed has a connection of its own.
    var mayBeReplayed: Bool {
        options.mayReplay && method.isIdempotent && body?.isReplayable != false
    }
}

extension HTTPBody {
    /// Whether a read of the body can return `.wait`.
    fileprivate var mayWait: Bool {
        guard paces.isEmpty else { return true }
        return switch storage {
        case .data, .value, .file: false
        case .stream, .multipart, .invalid: true
        }
    }
}
