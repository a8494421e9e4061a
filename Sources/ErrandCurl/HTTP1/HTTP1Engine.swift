// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import ErrandTransport

    /// Carries requests over HTTP/1.1 connections of its own, whose sockets libcurl opens.
    ///
    /// It belongs to the loop. ``ConnectionPool`` decides which connection a request uses.
    final class HTTP1Engine {
        /// The size of the input buffer, unless a request sets another.
        private static let inputBytes = 64 << 10

        unowned(unsafe) let loop: EventLoop
        private let poll: Int32
        // Unchecked: only the loop's thread uses the engine.
        @exclusivity(unchecked) private var pool: ConnectionPool<HTTP1Connection, HTTP1Transfer>
        @exclusivity(unchecked) private var connectors: [Connector] = []
        /// The connections by the number of their socket.
        @exclusivity(unchecked) var connections: [HTTP1Connection?] = []
        @exclusivity(unchecked) private(set) var active: [HTTP1Transfer] = []
        @exclusivity(unchecked) private var input = UnsafeMutableRawBufferPointer.allocate(
            byteCount: HTTP1Engine.inputBytes, alignment: 16)
        /// Buffers for the reads of streamed bodies.
        let chunks = ReadBuffers(byteCount: 256 << 10, limit: 2)
        /// The bytes that are sent next.
        let output = TextBuffer(capacity: 64 << 10)
        /// The number of the transfer whose request head, and nothing else, is in `output`; 0 for
        /// none.
        @exclusivity(unchecked) var headOwner: UInt64 = 0
        private var lastNumber: UInt64 = 0
        /// Whether the engine carries the requests of origins that have negotiated HTTP/1.1.
        let usesLearned: Bool
        @exclusivity(unchecked) var learned = LearnedOrigins()
        /// The origins that speak HTTP/2 now, whose idle connections are to be closed.
        var formerOrigins: [ConnectionKey.Host] = []
        /// The connections that may have input which no event of their socket announces.
        @exclusivity(unchecked) private var unread: [HTTP1Connection] = []

        init(loop: EventLoop, poll: Int32, configuration: CurlConfiguration) {
            self.loop = loop
            self.poll = poll
            var limits = ConnectionPool<HTTP1Connection, HTTP1Transfer>.Limits()
            if let count = configuration.connectionsPerHost, count > 0 { limits.perHost = count }
            limits.idle = max(1, configuration.idleConnections)
            limits.idleNanoseconds = UInt64(clamping: configuration.idleLifetime.wholeNanoseconds)
            pool = ConnectionPool(limits: limits)
            // libcurl counts its own connections to a host for a limit.
            usesLearned = limits.perHost == .max
        }

        deinit { input.deallocate() }

        /// Closes all connections; no transfer is active.
        func cleanUp() {
            for connector in connectors { connector.cancel() }
            connectors.removeAll()
            while let connection = pool.nextIdle() { close(connection, .shutDown) }
        }

        // MARK: - Transfers

        /// Starts a transfer; its deadlines may have begun before.
        func start(_ transfer: CurlTransfer, _ deadlines: Deadlines? = nil) {
            lastNumber += 1
            let exchange = HTTP1Transfer(transfer, number: lastNumber, engine: self)
            exchange.activeIndex = active.count
            active.append(exchange)
            transfer.exchange = exchange
            if loop.isShutDown {
                exchange.stop(.shutDown)
            } else if transfer.signals().contains(.cancel) {
                exchange.stop(.cancelled)
            } else {
                exchange.begin(deadlines)
            }
        }

        /// Ends all transfers and connects.
        func shutDown() { for exchange in active { exchange.stop(.shutDown) } }

        func ended(_ exchange: HTTP1Transfer) {
            let index = exchange.activeIndex
            guard active.indices.contains(index), active[index] === exchange else { return }
            active[index] = active[active.count - 1]
            active[index].activeIndex = index
            active.removeLast()
        }

        // MARK: - Connections for transfers

        /// Gives a transfer an idle connection, or lets it wait for one.
        ///
        /// - Parameter isNew: Whether idle connections are not used, because they are probably dead
        ///   like the one that the transfer has lost.
        func acquire(for exchange: HTTP1Transfer, isNew: Bool = false) {
            while !isNew, let connection = pool.reuse(exchange.key) {
                guard let reason = reasonToClose(connection) else {
                    return exchange.use(connection)
                }
                discard(connection, reason)
            }
            exchange.ticket = pool.wait(exchange.key, for: exchange)
            startConnects()
        }

        /// The reason to close an idle connection, because it has input or an end; `nil` if it has neither.
        private func reasonToClose(
            _ connection: HTTP1Connection
        ) -> Response.Connection.CloseReason? {
            if loop.sockets.isKnownIdle(since: connection.idleSince), !connection.holdsInput {
                return nil
            }
            return connection.reasonToClose
        }

        /// Ends the wait of a transfer, and a connect that no other transfer needs.
        func cancelWait(of exchange: HTTP1Transfer) {
            guard let ticket = exchange.ticket else { return }
            exchange.ticket = nil
            guard pool.cancel(ticket, exchange.key) != nil else { return }
            while pool.abandonSurplusConnect(exchange.key) {
                // The connect that was started for the transfer, or the newest.
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
        func release(_ connection: HTTP1Connection, keepsConnection: Bool) {
            connection.transfer = nil
            guard keepsConnection, connection.state.isIdle else {
                return discard(connection, .notPersistent)
            }
            connection.readsInput = true
            connection.updateEvents()
            // Unsolicited data must not become the response to the next request.
            if pool.hasWaiter(connection.key), let reason = connection.reasonToClose {
                return discard(connection, reason)
            }
            give(connection, to: makeAvailable(connection))
        }

        private func makeAvailable(_ connection: HTTP1Connection) -> HTTP1Transfer? {
            pool.release(
                connection, connection.key, at: loop.now, lifetime: connection.idleLifetime)
        }

        /// Lets a waiting transfer use a connection that has become available.
        ///
        /// Cancelled transfers are skipped in a loop: a call for each of them, from the end of the
        /// one before, would exhaust the stack.
        private func give(_ connection: HTTP1Connection, to first: HTTP1Transfer?) {
            var waiter = first
            var cancelled: [HTTP1Transfer] = []
            while let next = waiter, next.transfer.signals().contains(.cancel) {
                next.ticket = nil
                cancelled.append(next)
                waiter = makeAvailable(connection)
            }
            if let waiter {
                waiter.ticket = nil
                waiter.use(connection)
            } else {
                keep(connection)
            }
            for exchange in cancelled { exchange.stop(.cancelled) }
        }

        /// Keeps a connection that no transfer waits for.
        private func keep(_ connection: HTTP1Connection) {
            if connection.buffersInput, loop.isPlaceWanted(connection.key.host),
                pool.closedIdle(connection.key, where: { $0 === connection })
            {
                close(connection, .poolFull)
                return startConnects()
            }
            connection.idleSince = loop.sockets.idleChecks
            if pool.hasTooManyIdle || connection.idleLifetime == 0 { expireIdle() }
            loop.scheduleSweep(
                by: pool.expiry(of: loop.now, lifetime: connection.idleLifetime))
            // A request with another key may need the place of the idle connection.
            startConnects()
        }

        /// Closes a connection that was in use.
        func discard(
            _ connection: HTTP1Connection, _ reason: Response.Connection.CloseReason
        ) {
            connection.transfer = nil
            close(connection, reason)
            pool.closed(connection.key)
            startConnects()
        }

        private func close(
            _ connection: HTTP1Connection, _ reason: Response.Connection.CloseReason
        ) {
            loop.connectionTable.willClose(connection.socket, because: reason)
            connections[Int(connection.socket)] = nil
            connection.close()
        }

        private func startConnects() {
            while let start = pool.nextStart() {
                switch start {
                case .close(let connection): close(connection, .poolFull)
                case .connect(let key, let waiter, let ticket):
                    let limit = waiter.transfer.request.timeouts.connect
                    do throws(RequestError) {
                        let connector = try Connector(key, ticket, limit: limit, loop: loop)
                        connectors.append(connector)
                    } catch {
                        pool.connectFailed(key)?.connectFailed(error)
                    }
                }
            }
        }

        /// Takes the result of a connect; returns false if libcurl's handle is not a connector's.
        func finishConnect(_ handle: UnsafeMutableRawPointer, _ result: CURLcode) -> Bool {
            guard let index = connectors.firstIndex(where: { $0.handle == handle }) else {
                return false
            }
            let connector = connectors.remove(at: index)
            let key = connector.key
            if result != CURLE_OK {
                let waiter =
                    result == CURLE_OPERATION_TIMEDOUT
                    ? pool.connectTimedOut(connector.ticket, key) : pool.connectFailed(key)
                let error = waiter.map { connector.error(result, for: $0.transfer.request) }
                connector.cancel()
                if let error, let waiter, !moves(waiter, after: result) {
                    waiter.connectFailed(error)
                }
            } else {
                do throws(RequestError) {
                    let connection = try HTTP1Connection(connector, poll: poll)
                    add(connection)
                    give(connection, to: pool.connected(connection, key, at: loop.now))
                } catch {
                    pool.connectFailed(key)?.connectFailed(error)
                }
            }
            startConnects()
            return true
        }

        /// Takes over the connection of a transfer that libcurl has carried.
        func adopt(_ connector: Connector, _ ports: ConnectionUse.Ports) {
            guard let connection = try? HTTP1Connection(connector, poll: poll) else { return }
            // The server has sent data that belongs to no request (RFC 9112 §9.2).
            guard connection.unread.isEmpty else {
                loop.connectionTable.willClose(connection.socket, because: .unsolicitedData)
                return connection.close()
            }
            connection.adoptedPorts = ports
            connection.state.adopted()
            add(connection)
            give(connection, to: pool.adopted(connection, connection.key, at: loop.now))
            startConnects()
        }

        /// Closes the idle connections to a host, because libcurl needs their places.
        func closeIdle(
            _ host: ConnectionKey.Host, _ reason: Response.Connection.CloseReason = .poolFull
        ) {
            while let connection = pool.nextIdle(to: host) { close(connection, reason) }
        }

        private func add(_ connection: HTTP1Connection) {
            let index = Int(connection.socket)
            if index >= connections.count {
                connections += repeatElement(nil, count: index + 64 - connections.count)
            }
            connections[index] = connection
        }

        // MARK: - Events

        /// Serves the events of a socket; returns false if it is not one of the engine's.
        func serve(_ socket: Int32, _ flags: UInt32) -> Bool {
            let index = Int(socket)
            guard connections.indices.contains(index), let connection = connections[index] else {
                return false
            }
            guard let exchange = connection.transfer else {
                // The end of an idle connection, or unsolicited data (RFC 9112 §9.2).
                // An event of an earlier socket with this number changes nothing.
                if let reason = connection.reasonToClose,
                    connection.state.unsolicitedInput() == .close,
                    pool.closedIdle(connection.key, where: { $0 === connection })
                {
                    close(connection, reason)
                    startConnects()
                }
                return true
            }
            if flags & errand_epoll_out != 0 { exchange.writable() }
            if flags & ~errand_epoll_out != 0, connection.transfer === exchange {
                exchange.readable(inputBuffer(for: exchange))
                if connection.waitsForInput, connection.transfer === exchange {
                    exchange.writable()
                }
            }
            return true
        }

        /// Whether there is work that no event announces.
        var isBusy: Bool {
            !unread.isEmpty || !formerOrigins.isEmpty || pool.hasDeferredStarts
        }

        /// Reads a connection in the next turn, although its socket may have no event then.
        func readLater(_ connection: HTTP1Connection) { unread.append(connection) }

        /// Does what was left for the next turn.
        func continueWork() {
            let isDeferred = pool.hasDeferredStarts
            pool.continueStarts()
            if isDeferred { startConnects() }
            guard !unread.isEmpty || !formerOrigins.isEmpty else { return }
            for origin in formerOrigins { closeIdle(origin, .superseded) }
            formerOrigins.removeAll()
            let connections = unread
            unread.removeAll(keepingCapacity: true)
            for connection in connections where holds(connection) {
                guard let exchange = connection.transfer else { continue }
                exchange.readable(inputBuffer(for: exchange))
                if connection.waitsForInput, connection.transfer === exchange {
                    exchange.writable()
                }
            }
        }

        private func holds(_ connection: HTTP1Connection) -> Bool {
            let index = Int(connection.socket)
            return connections.indices.contains(index) && connections[index] === connection
        }

        /// The buffer for one read, of the size that the transfer's options set.
        func inputBuffer(for exchange: HTTP1Transfer) -> UnsafeMutableRawBufferPointer {
            let options = exchange.transfer.request.options
            guard !options.hasDefaults, let wanted = options.receiveBufferBytes else {
                return UnsafeMutableRawBufferPointer(rebasing: input[..<Self.inputBytes])
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

        /// Ends transfers whose deadline has passed and closes expired idle connections; returns the
        /// time of the next check.
        func sweep(at now: MonotonicTime) -> MonotonicTime {
            var next = MonotonicTime.never
            var late: [(HTTP1Transfer, RequestError.TimeoutKind)] = []
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
