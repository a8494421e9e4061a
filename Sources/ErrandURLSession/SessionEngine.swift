import ErrandCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The session behind a transport, the transfers under way, and the queue at each host's door.
final class SessionEngine: Sendable {
    private struct State {
        var session: URLSession?
        var gate: OriginGate
        var transfers: [ObjectIdentifier: URLSessionTransfer] = [:]
        /// Sessions for one request each; see ``needsOwnConnection(_:)``.
        var ownSessions: [ObjectIdentifier: URLSession] = [:]
        /// Transfers that hold a place.
        var placed: Set<ObjectIdentifier> = []
        var isShutDown = false
    }

    private let control = DispatchQueue(label: "errand.urlsession.control")
    private let delivery = DispatchQueue(
        label: "errand.urlsession.delivery", attributes: .concurrent)
    private let delegate: SessionDelegate
    private let configuration: URLSessionConfiguration
    private let additionalHeaders: Set<String>
    private let state: Mutex<State>

    init(_ original: URLSessionConfiguration) {
        let configuration = original.copy() as? URLSessionConfiguration ?? .default
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        self.configuration = configuration
        additionalHeaders = Set(
            (configuration.httpAdditionalHeaders ?? [:]).keys.compactMap {
                ($0 as? String)?.lowercased()
            })
        delegate = SessionDelegate(control: control)
        state = Mutex(
            State(gate: OriginGate(limit: configuration.httpMaximumConnectionsPerHost)))
    }

    func start(
        _ request: TransportRequest, receiver: any TransferReceiver
    ) -> URLSessionTransfer {
        let transfer = URLSessionTransfer(
            request, receiver: receiver,
            surroundings: .init(
                control: control, delivery: delivery,
                // Strong: who waits at the gate still gets their turn when the transport is gone.
                finished: { [self] transfer in finished(transfer) }))
        let id = ObjectIdentifier(transfer)
        let (isShutDown, hasPlace) = state.withLock { state in
            state.transfers[id] = transfer
            guard !state.isShutDown else { return (true, false) }
            let hasPlace = !Self.isGated(request) || state.gate.enter(request.url.origin, id)
            if hasPlace { state.placed.insert(id) }
            return (false, hasPlace)
        }
        if isShutDown {
            transfer.abort(Self.shutDownError)
        } else if let refusal = URLSessionRefusals.refusal(of: request) {
            transfer.abort(refusal)
        } else if hasPlace {
            transfer.watchDeadlines()
            control.async { [self] in prepare(transfer) }
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
            state.withLock { $0.session.take() }?.finishTasksAndInvalidate()
        }
    }

    deinit {
        // The last one to let go may be a callback of the session.
        let session = state.withLock { $0.session.take() }
        control.async { session?.finishTasksAndInvalidate() }
    }

    private static var shutDownError: RequestError {
        RequestError(.agentShutDown, stage: .transport, "The transport was shut down.")
    }

    /// Over TLS, HTTP/2 may carry any number of requests on one connection.
    private static func isGated(_ request: TransportRequest) -> Bool {
        request.url.scheme == "http"
    }

    /// Whether the request must not go over a connection that others used.
    ///
    /// NB: when a server drops a reused connection after reading a request, libcurl sends the request again;
    /// a body can refuse that, but a request without one cannot.
    private static func needsOwnConnection(_ request: TransportRequest, bodyLength: Int64?) -> Bool
    {
        !request.options.mayReplay && !request.method.isIdempotent && (bodyLength ?? 0) == 0
    }
}

// MARK: - On the control queue

extension SessionEngine {
    private func prepare(_ transfer: URLSessionTransfer) {
        guard !transfer.isOver else { return transfer.finish() }
        guard let body = transfer.request.body else { return launch(transfer) }
        // What makes a stream is the user's, and may wait for what this queue does.
        if body.mayHaveToWait { return delivery.async { [self] in open(body, for: transfer) } }
        open(body, for: transfer)
    }

    private func open(_ body: HTTPBody, for transfer: URLSessionTransfer) {
        do throws(RequestError) {
            let source = try body.makeSource()
            transfer.attach(source)
            if body.mayHaveToWait {
                spool(source, for: transfer)
            } else {
                launch(transfer)
            }
        } catch {
            transfer.abort(error)
        }
    }

    private func spool(_ source: any BodySource, for transfer: URLSessionTransfer) {
        BodySpool(source, queue: delivery, activity: { [weak transfer] in transfer?.active() }) {
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
        let stream = transfer.firstStream()
        let length = transfer.bodyLength
        var request = WireRequest.make(
            transfer.request, url: url, bodyLength: length, additional: additionalHeaders)
        request.httpBodyStream = stream
        let isAlone = Self.needsOwnConnection(transfer.request, bodyLength: length)
        let task = session(for: transfer, alone: isAlone).dataTask(with: request)
        delegate.attach(transfer, to: task)
        transfer.attach(task)
        task.resume()
    }

    private func session(for transfer: URLSessionTransfer, alone isAlone: Bool) -> URLSession {
        if isAlone {
            let session = makeSession()
            state.withLock { $0.ownSessions[ObjectIdentifier(transfer)] = session }
            return session
        }
        if let session = state.withLock({ $0.session }) { return session }
        let session = makeSession()
        state.withLock { $0.session = session }
        return session
    }

    private func makeSession() -> URLSession {
        let queue = InlineOperationQueue()
        queue.maxConcurrentOperationCount = 1
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    /// No task works for the transfer any more; called on any queue, once for each.
    private func finished(_ transfer: URLSessionTransfer) {
        let id = ObjectIdentifier(transfer)
        let (next, own) = state.withLock { state in
            state.transfers[id] = nil
            let own = state.ownSessions.removeValue(forKey: id)
            guard Self.isGated(transfer.request) else { return (URLSessionTransfer?.none, own) }
            let origin = transfer.request.url.origin
            guard state.placed.remove(id) != nil else {
                _ = state.gate.giveUp(origin, id)
                return (nil, own)
            }
            let nextID = state.gate.leave(origin)
            if let nextID { state.placed.insert(nextID) }
            return (nextID.flatMap { state.transfers[$0] }, own)
        }
        // Not on the queue: the session may keep it for as long as it likes.
        next?.watchDeadlines()
        control.async { [self] in
            own?.finishTasksAndInvalidate()
            if let next { prepare(next) }
        }
    }
}

extension HTTPBody {
    /// Whether the body's bytes may not be there yet when they are asked for.
    fileprivate var mayHaveToWait: Bool {
        switch storage {
        case .data, .file: false
        case .stream, .source: true
        }
    }
}
