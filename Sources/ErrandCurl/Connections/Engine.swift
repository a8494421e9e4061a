// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import ErrandTransport

    /// Carries requests over connections that libcurl has opened.
    ///
    /// It belongs to the loop. ``ConnectionPool`` decides which connection a request uses, and the
    /// connection's protocol how.
    final class Engine: LoopClient {
        /// The size of the input buffer, unless a request sets another.
        private static let inputBytes = 64 << 10

        /// The number is that of the requests which are sent before the server names its limit, if it may have several.
        typealias MakeConnection = (Connector.Opened, Int, Engine) throws(RequestError) ->
            OpenConnection

        unowned(unsafe) let loop: EventLoop
        let multi: MultiHandle
        /// Creates the connection of the protocol that was negotiated.
        private let makeConnection: MakeConnection
        // Unchecked: only the loop's thread uses the engine.
        @exclusivity(unchecked) private var pool: ConnectionPool<OpenConnection, Exchange>
        @exclusivity(unchecked) private var connectors: [Connector] = []
        /// The connections by the number of their socket.
        @exclusivity(unchecked) private var connections: [OpenConnection?] = []
        @exclusivity(unchecked) private var active: [Exchange] = []
        @exclusivity(unchecked) private var input = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Engine.inputBytes, alignment: 16)
        /// Buffers for the reads of streamed bodies.
        let chunks = ReadBuffers(byteCount: 256 << 10, limit: 2)
        /// The bytes that are sent next over HTTP/1.1: a head and a piece of a body.
        ///
        /// Memory that is not written costs nothing.
        let output = TextBuffer(capacity: 160 << 10)
        /// A buffer for the target of a request.
        let scratch = TextBuffer(capacity: 256)
        /// The number of the exchange whose request head, and nothing else, is in `output`; 0 for
        /// none.
        @exclusivity(unchecked) var headOwner: UInt64 = 0
        private var lastNumber: UInt64 = 0
        private var origins = HTTP11Origins()
        /// The connections that may have input which no event of their socket announces.
        @exclusivity(unchecked) private var unread: [OpenConnection] = []
        /// The connections with bytes to send at the end of this turn, or of the next one.
        @exclusivity(unchecked) private var unflushed: [OpenConnection] = []
        /// The shared connections that may accept waiting requests.
        @exclusivity(unchecked) private var withPlaces: [OpenConnection] = []
        /// The shared connections, which may be checked while they are silent.
        @exclusivity(unchecked) private var shared: [OpenConnection] = []

        init(
            loop: EventLoop, configuration: CurlConfiguration,
            makeConnection: @escaping MakeConnection
        ) {
            self.loop = loop
            multi = MultiHandle(
                loop: loop, resumesSessions: configuration.resumesTLSSessions)
            self.makeConnection = makeConnection
            var limits = ConnectionPool<OpenConnection, Exchange>.Limits()
            if let count = configuration.connectionsPerHost, count > 0 { limits.perHost = count }
            if let count = configuration.maximumConnections, count > 0 { limits.total = count }
            limits.idle = max(1, configuration.idleConnections)
            limits.idleNanoseconds = UInt64(clamping: configuration.idleLifetime.wholeNanoseconds)
            pool = ConnectionPool(limits: limits)
        }

        deinit { input.deallocate() }

        /// Closes all connections; no exchange is active.
        func cleanUp() {
            multi.table.isShuttingDown = true
            for connector in connectors { connector.cancel() }
            connectors.removeAll()
            while let connection = pool.nextIdle() { close(connection, .shutDown) }
            for connection in shared { close(connection, .shutDown) }
            multi.cleanUp()
        }

        // MARK: - Exchanges

        var transferCount: Int { active.count }

        func start(_ transfer: CurlTransfer) {
            lastNumber += 1
            let exchange = Exchange(transfer, number: lastNumber, engine: self)
            exchange.activeIndex = active.count
            active.append(exchange)
            transfer.exchange = exchange
            if loop.isShutDown {
                exchange.stop(.shutDown)
            } else if transfer.signals().contains(.cancel) {
                exchange.stop(.cancelled)
            } else {
                exchange.begin()
            }
        }

        /// Ends all exchanges and connects.
        func shutDown() { for exchange in active { exchange.stop(.shutDown) } }

        func ended(_ exchange: Exchange) {
            let index = exchange.activeIndex
            guard active.indices.contains(index), active[index] === exchange else { return }
            active[index] = active[active.count - 1]
            active[index].activeIndex = index
            active.removeLast()
        }

        // MARK: - Origins that require HTTP/1.1

        /// Whether the server of a request has required HTTP/1.1 recently.
        func requiresHTTP11(_ request: TransportRequest) -> Bool {
            !origins.isEmpty && origins.contains(Self.origin(of: request), at: loop.now)
        }

        /// Records that the server of a request requires HTTP/1.1.
        func noteHTTP11(_ request: TransportRequest) {
            origins.insert(Self.origin(of: request), at: loop.now)
        }

        private static func origin(of request: TransportRequest) -> ConnectionKey.Host {
            ConnectionKey.Host(name: request.host ?? "", port: request.url.effectivePort)
        }

        /// Whether an open connection accepts an extended CONNECT now.
        func allowsExtendedConnect(_ key: ConnectionKey) -> Bool {
            let related = key.related?.key
            return shared.contains { connection in
                connection.allowsExtendedConnect && connection.hasPlace
                    && (connection.key == key || connection.key == related)
            }
        }

        // MARK: - Connections for exchanges

        /// See ``ConnectionPool/key(of:_:requiresValidChain:)``.
        func key(
            of request: TransportRequest, _ options: TransportOptions, requiresValidChain: Bool
        ) -> ConnectionKey {
            pool.key(of: request, options, requiresValidChain: requiresValidChain)
        }

        /// The key of a request that must use HTTP/1.1.
        func keyForHTTP11(_ key: ConnectionKey) -> ConnectionKey { pool.known(key.forHTTP11) }

        /// Gives an exchange a connection, or lets it wait for one.
        ///
        /// - Parameter isNew: Whether open connections are not used, because they are probably dead
        ///   like the one that the exchange has lost.
        func acquire(for exchange: Exchange, isNew: Bool = false) {
            while !isNew,
                let connection = pool.reuse(exchange.key, where: { $0.hasPlace })
            {
                guard let reason = connection.reasonToClose else {
                    return connection.carry(exchange)
                }
                discard(connection, reason)
            }
            exchange.ticket = pool.wait(exchange.key, for: exchange)
            startConnects()
        }

        /// Ends the wait of an exchange, and a connect that no other exchange needs.
        func cancelWait(of exchange: Exchange) {
            guard let ticket = exchange.ticket else { return }
            exchange.ticket = nil
            guard pool.cancel(ticket, exchange.key) != nil else { return }
            while pool.abandonSurplusConnect(exchange.key) {
                // The connect that was started for the exchange, or the newest.
                let surplus = connectors.filter { $0.key == exchange.key }
                guard
                    let abandoned = surplus.first(where: { $0.ticket == ticket })
                        ?? surplus.max(by: { $0.ticket < $1.ticket })
                else { break }
                connectors.removeAll { $0 === abandoned }
                abandoned.cancel()
            }
            startConnects()
        }

        /// Takes back a connection after an exchange.
        func release(_ connection: OpenConnection, keepsConnection: Bool) {
            guard keepsConnection, connection.prepareForNext() else {
                return discard(connection, .notPersistent)
            }
            // Unsolicited data must not become the response to the next request.
            if pool.hasWaiter(connection.key), let reason = connection.currentReasonToClose {
                return discard(connection, reason)
            }
            give(connection, to: makeAvailable(connection))
        }

        private func makeAvailable(_ connection: OpenConnection) -> Exchange? {
            pool.release(
                connection, connection.key, at: loop.now, lifetime: connection.idleLifetime)
        }

        /// Lets a waiting exchange use a connection that has become available.
        ///
        /// Cancelled exchanges are skipped in a loop: a call for each of them, from the end of the
        /// one before, would exhaust the stack.
        private func give(_ connection: OpenConnection, to first: Exchange?) {
            var waiter = first
            var cancelled: [Exchange] = []
            while let next = waiter, next.transfer.signals().contains(.cancel) {
                next.ticket = nil
                cancelled.append(next)
                waiter = makeAvailable(connection)
            }
            if let waiter {
                waiter.ticket = nil
                connection.carry(waiter)
            } else {
                keep(connection)
            }
            for exchange in cancelled { exchange.stop(.cancelled) }
        }

        /// Keeps a connection that no exchange waits for.
        private func keep(_ connection: OpenConnection) {
            connection.idleSince = loop.idleCheck.count
            if pool.hasTooManyIdle || connection.idleLifetime == 0 { expireIdle() }
            // Read before the pool, which would be copied otherwise.
            let (now, lifetime) = (loop.now, connection.idleLifetime)
            loop.scheduleSweep(by: pool.expiry(of: now, lifetime: lifetime))
            // A request with another key may need the place of the idle connection.
            startConnects()
        }

        /// Closes a connection that was in use.
        func discard(_ connection: OpenConnection, _ reason: Response.Connection.CloseReason) {
            let isShared = shared.contains { $0 === connection }
            guard close(connection, reason) else { return }
            if isShared {
                pool.closedShared(connection.key) { $0 === connection }
            } else {
                pool.closed(connection.key)
            }
            startConnects()
        }

        /// Closes a shared connection that has carried no request, so that those which waited for it fail.
        func discardUnused(
            _ connection: OpenConnection, _ reason: Response.Connection.CloseReason,
            _ error: RequestError
        ) {
            guard close(connection, reason) else { return }
            let waiters = pool.closedUnused(connection.key) { $0 === connection }
            let failed = waiters.map { waiter in
                var error = error
                // A request that was lost before may have been processed.
                error.isUnprocessed = !waiter.hasReplayed
                return (waiter, error)
            }
            fail(failed, connection.key)
            startConnects()
        }

        /// Ends the requests that fail with a connect, and lets the others use open connections.
        private func fail(_ waiters: [(Exchange, RequestError)], _ key: ConnectionKey) {
            for (waiter, error) in waiters { waiter.connectFailed(error) }
            for connection in shared where connection.key == key {
                _ = offerPlaces(of: connection)
            }
        }

        /// Closes a connection that carries no request, if the pool has it.
        func closeIdle(_ connection: OpenConnection, _ reason: Response.Connection.CloseReason) {
            guard pool.closedIdle(connection.key, where: { $0 === connection }) else { return }
            close(connection, reason)
            startConnects()
        }

        /// Closes a connection; returns false if it is closed already.
        @discardableResult
        private func close(
            _ connection: OpenConnection, _ reason: Response.Connection.CloseReason
        ) -> Bool {
            guard holds(connection) else { return false }
            connection.sayGoodbye()
            multi.table.willClose(connection.socket, because: reason)
            connections[Int(connection.socket)] = nil
            shared.removeAll { $0 === connection }
            connection.close()
            return true
        }

        func startConnects() {
            while let start = pool.nextStart() {
                switch start {
                case .close(let connection): close(connection, .poolFull)
                case .connect(let key, let waiter, let ticket):
                    let limit = waiter.transfer.request.timeouts.connect
                    do throws(RequestError) {
                        let connector = try Connector(
                            waiter.key, ticket, limit: limit, multi: multi)
                        connectors.append(connector)
                    } catch {
                        fail(pool.connectFailed(key).map { ($0, error) }, key)
                    }
                }
            }
        }

        func collect() {
            while let (handle, result) = multi.nextFinished() { finishConnect(handle, result) }
        }

        /// Takes the result of a connect.
        private func finishConnect(_ handle: UnsafeMutableRawPointer, _ result: CURLcode) {
            guard let index = connectors.firstIndex(where: { $0.handle == handle }) else { return }
            let connector = connectors.remove(at: index)
            let key = connector.key
            if result != CURLE_OK {
                let waiters =
                    result == CURLE_OPERATION_TIMEDOUT
                    ? [pool.connectTimedOut(connector.ticket, key)].compactMap { $0 }
                    : pool.connectFailed(key)
                let failed = waiters.map {
                    ($0, connector.error(result, for: $0.transfer.request, $0.options))
                }
                connector.cancel()
                fail(failed, key)
            } else {
                do throws(RequestError) {
                    try use(connector.open())
                } catch {
                    fail(pool.connectFailed(key).map { ($0, error) }, key)
                }
            }
            startConnects()
        }

        /// Uses a new connection with the protocol that was negotiated.
        private func use(_ opened: Connector.Opened) throws(RequestError) {
            let key = opened.connector.key
            let connection = try makeConnection(opened, pool.requestsPerConnection(key), self)
            add(connection)
            guard !connection.isShared else {
                shared.append(connection)
                pool.connectedShared(connection, key, at: loop.now)
                loop.scheduleSweep(by: pool.expiry(of: loop.now))
                closeFormer(key)
                return connection.begin(opened.early)
            }
            guard key.version != .http2 else {
                let waiters = pool.removeWaiters(key)
                pool.connectClosed(key)
                close(connection, .notPersistent)
                for waiter in waiters {
                    waiter.connectFailed(CurlFailure.noHTTP2(wasSent: waiter.sendCount > 0))
                }
                return
            }
            give(connection, to: pool.connected(connection, key, at: loop.now))
        }

        /// Closes idle connections with HTTP/1.1 to a server that speaks HTTP/2 now.
        private func closeFormer(_ key: ConnectionKey) {
            guard key.version == .automatic else { return }
            let host = key.host
            while let former = pool.nextIdleExclusive(where: {
                $0.host == host && $0.version == .automatic
            }) {
                close(former, .superseded)
            }
        }

        private func add(_ connection: OpenConnection) {
            let index = Int(connection.socket)
            if index >= connections.count {
                connections += repeatElement(nil, count: index + 64 - connections.count)
            }
            connections[index] = connection
        }

        // MARK: - Shared connections

        /// A shared connection may accept waiting requests, which are given to it in this turn; returns false if none
        /// waits.
        func offerPlaces(of connection: OpenConnection) -> Bool {
            guard pool.hasWaiter(connection.key) else { return false }
            withPlaces.append(connection)
            return true
        }

        /// The server of a shared connection has named its limit of requests at once.
        func noteLimit(_ limit: Int, of connection: OpenConnection) {
            pool.noteLimit(limit, connection.key)
        }

        /// A shared connection accepts no further requests; it is closed when it carries none.
        func drain(_ connection: OpenConnection) {
            pool.removeShared(connection.key) { $0 === connection }
        }

        /// A shared connection carries no request now.
        func becameIdle(_ connection: OpenConnection) {
            pool.becameIdle(connection.key, at: loop.now) { $0 === connection }
            if pool.hasTooManyIdle { expireIdle() }
            loop.scheduleSweep(by: pool.expiry(of: loop.now))
            startConnects()
        }

        /// Gives waiting requests to the connections that accept them, and sends what the connections
        /// have collected.
        func flush() {
            while !withPlaces.isEmpty || !unflushed.isEmpty {
                let connections = withPlaces
                withPlaces.removeAll(keepingCapacity: true)
                for connection in connections { givePlaces(of: connection) }
                if !connections.isEmpty { startConnects() }
                let unflushed = unflushed
                self.unflushed.removeAll(keepingCapacity: true)
                for connection in unflushed where holds(connection) { connection.flush() }
            }
        }

        /// Gives waiting requests to a shared connection.
        func givePlaces(of connection: OpenConnection) {
            defer { if holds(connection) { connection.becomeIdleIfUnused() } }
            while holds(connection), connection.hasPlace,
                let waiter = pool.nextWaiter(connection.key, where: { $0 === connection })
            {
                waiter.ticket = nil
                connection.carry(waiter)
            }
        }

        /// Sends the output of a connection at the end of this turn.
        func flushLater(_ connection: OpenConnection) { unflushed.append(connection) }

        // MARK: - Events

        func serve(_ socket: Int32, _ flags: UInt32) {
            let index = Int(socket)
            guard connections.indices.contains(index), let connection = connections[index] else {
                return multi.serve(socket, flags)
            }
            connection.serve(flags)
        }

        var timer: MonotonicTime { multi.timer }

        func runTimer() { multi.runTimer() }

        func reportClosed() { multi.reportClosed() }

        /// Whether there is work that no event announces.
        var isBusy: Bool { !unread.isEmpty || pool.hasDeferredStarts }

        /// Reads a connection in the next turn, although its socket may have no event then.
        func readLater(_ connection: OpenConnection) { unread.append(connection) }

        /// Does what was left for the next turn.
        func continueWork() {
            let isDeferred = pool.hasDeferredStarts
            pool.continueStarts()
            if isDeferred { startConnects() }
            guard !unread.isEmpty else { return }
            let connections = unread
            unread.removeAll(keepingCapacity: true)
            for connection in connections where holds(connection) { connection.readAgain() }
        }

        private func holds(_ connection: OpenConnection) -> Bool {
            let index = Int(connection.socket)
            return connections.indices.contains(index) && connections[index] === connection
        }

        /// The buffer for one read.
        var inputBuffer: UnsafeMutableRawBufferPointer {
            UnsafeMutableRawBufferPointer(rebasing: input[..<Self.inputBytes])
        }

        /// The buffer for one read, of the size that the options of an exchange set.
        func inputBuffer(for exchange: Exchange) -> UnsafeMutableRawBufferPointer {
            let options = exchange.options
            guard !options.hasDefaults, let wanted = options.receiveBufferBytes else {
                return inputBuffer
            }
            let size = min(max(wanted, 1 << 10), 10 << 20)
            if size > input.count {
                input.deallocate()
                input = .allocate(byteCount: size, alignment: 16)
            }
            return UnsafeMutableRawBufferPointer(rebasing: input[..<size])
        }

        /// Whether a request waits for a connection, so that the end of another one means work.
        var hasWaiters: Bool { pool.hasWaiters || !connectors.isEmpty }

        /// Ends exchanges whose deadline has passed and closes expired idle connections; returns the
        /// time of the next check.
        func sweep(at now: MonotonicTime) -> MonotonicTime {
            var next = MonotonicTime.never
            var late: [(Exchange, RequestError.TimeoutKind)] = []
            for exchange in active {
                next = min(next, exchange.checkContinue(at: now))
                let socket = exchange.connection?.socket
                let result = exchange.deadlines.check(at: now) {
                    socket.flatMap { SendQueue(of: $0) }
                }
                switch result {
                case .expired(.idle):
                    if let moment = exchange.postponeIdle(at: now) {
                        next = min(next, moment)
                    } else {
                        late.append((exchange, .idle))
                    }
                case .expired(let kind): late.append((exchange, kind))
                case .next(let moment): next = min(next, moment)
                }
            }
            for (exchange, kind) in late { exchange.expire(kind) }
            for connection in shared { next = min(next, connection.check(at: now)) }
            expireIdle()
            startConnects()
            if active.isEmpty { chunks.removeAll() }
            if active.isEmpty, input.count > Self.inputBytes {
                input.deallocate()
                input = .allocate(byteCount: Self.inputBytes, alignment: 16)
            }
            return min(next, pool.nextExpiry)
        }

        private func expireIdle() {
            while pool.hasTooManyIdle, let connection = pool.nextExpired(at: loop.now) {
                close(connection, .poolFull)
            }
            while let connection = pool.nextExpired(at: loop.now) { close(connection, .idleLimit) }
        }
    }
#endif
