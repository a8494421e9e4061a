#if Metrics
    public import ErrandCore
    package import ErrandTransport
    public import Metrics
    import Synchronization

    /// Records metrics of requests with swift-metrics.
    ///
    ///     configuration.eventListeners = [MetricsListener()]
    ///
    /// It requires the package trait `Metrics`; without the trait, swift-metrics is not resolved. Metrics of single
    /// transfers, including retries and redirects, have the names, units and dimensions of the
    /// OpenTelemetry conventions for HTTP clients; metrics of whole requests have names that begin with `errand.`. The
    /// article RequestMetrics lists them.
    ///
    /// The number of series is bounded: methods that the conventions do not know are `_OTHER`, so are servers
    /// and endpoints after the first ones, and each metric has at most 2,000 series. What exceeds them has the one
    /// dimension `otel.metric.overflow`. URLs, paths and tags are not dimensions.
    public struct MetricsListener: RequestEventListener {
        private let core: Core

        /// Creates a listener.
        ///
        /// - Parameters:
        ///   - factory: The factory of the instruments. Default: `MetricsSystem.factory` at the time of this call, so
        ///     bootstrap the metrics system before.
        ///   - maximumServers: The number of servers (host and port) with series of their own. Default 100; the metrics of
        ///     further servers have `_OTHER` as `server.address`.
        ///   - maximumEndpoints: The number of endpoints with series of their own. Default 200.
        public init(
            factory: any MetricsFactory = MetricsSystem.factory, maximumServers: Int = 100,
            maximumEndpoints: Int = 200
        ) {
            core = Core(
                factory, maximumServers: maximumServers, maximumEndpoints: maximumEndpoints)
        }

        /// Records the metrics of an event.
        public func handle(_ event: RequestEvent) { core.handle(event) }

        /// Records the number of open connections, and why one was closed.
        public func handleConnection(_ event: ConnectionEvent) { core.handle(event) }

        /// What the listener remembers about a request.
        private final class Record: Sendable {
            let startedAt = Atomic<Int64>(0)
        }

        private final class Core: Sendable {
            let handles: MetricHandles
            private let servers: Mutex<BoundedNames>
            private let endpoints: Mutex<BoundedNames>

            init(_ factory: any MetricsFactory, maximumServers: Int, maximumEndpoints: Int) {
                handles = MetricHandles(factory)
                servers = Mutex(BoundedNames(limit: maximumServers))
                endpoints = Mutex(BoundedNames(limit: maximumEndpoints))
            }

            /// The dimensions of a server; a server beyond the limit has no port.
            func server(_ url: HTTPURL) -> [(String, String?)] {
                let (host, port) = (url.host ?? "", url.observedPort.map { "\($0)" })
                let name = servers.withLock { $0.value(of: "\(host):\(port ?? "")") }
                let isOther = name == BoundedNames.other
                return [
                    (HTTPAttribute.address, isOther ? name : host),
                    (HTTPAttribute.port, isOther ? nil : port),
                ]
            }

            private func server(host: String) -> (String, String?) {
                (HTTPAttribute.address, servers.withLock { $0.value(of: host) })
            }

            private func endpoint(_ event: RequestEvent) -> (String, String?) {
                (HTTPAttribute.endpoint, endpoints.withLock { $0.value(of: event.endpoint) })
            }

            func handle(_ event: RequestEvent) {
                switch event.kind {
                case .started:
                    guard let record = event.metadata.state(of: self, as: Record.self) else {
                        return
                    }
                    record.startedAt.store(event.uptime.wholeNanoseconds, ordering: .relaxed)
                case .ended(let error): end(event, error)
                case .joined: count(MetricName.joins, [endpoint(event)])
                case .dequeued(let wait): record(wait, MetricName.queueDuration, [endpoint(event)])
                case .rateLimited(let wait):
                    record(wait, MetricName.rateLimitDuration, [endpoint(event)])
                case .retrying(_, let error):
                    count(
                        MetricName.retries,
                        [endpoint(event), (HTTPAttribute.errorType, HTTPAttribute.type(of: error))])
                case .circuitChanged(let host, let state): change(host, state)
                case .webSocket(let webSocket): handle(webSocket, of: event)
                default: handleCache(event)
                }
            }

            private func handle(_ webSocket: WebSocketEvent, of event: RequestEvent) {
                switch webSocket {
                case .message(let message):
                    let dimensions = [
                        endpoint(event), (HTTPAttribute.direction, message.direction.rawValue),
                    ]
                    handles.count(
                        MetricSeries(MetricName.webSocketMessages, dimensions), by: message.count)
                    handles.count(
                        MetricSeries(MetricName.webSocketBytes, dimensions),
                        by: Int(clamping: message.bytesOnWire))
                case .closed(let close):
                    count(
                        MetricName.webSocketsClosed,
                        [endpoint(event), (HTTPAttribute.closeCode, close.code.bounded)])
                case .opened, .roundTrip: break
                }
            }

            private func handleCache(_ event: RequestEvent) {
                switch event.kind {
                case .cacheHit(_, let source):
                    count(
                        MetricName.cacheLookups,
                        [endpoint(event), (HTTPAttribute.outcome, source.rawValue)])
                // The endpoint never caches.
                case .cacheMiss(.invalidCacheTime): break
                case .cacheMiss(let reason):
                    count(
                        MetricName.cacheLookups,
                        [endpoint(event), (HTTPAttribute.outcome, reason.rawValue)])
                case .cacheStored:
                    count(
                        MetricName.cacheStores,
                        [endpoint(event), (HTTPAttribute.outcome, "stored")])
                case .cacheWriteFailed(let error):
                    count(
                        MetricName.cacheStores,
                        [endpoint(event), (HTTPAttribute.outcome, "\(error.code)")])
                case .cacheNotStored(let reason):
                    count(
                        MetricName.cacheStores,
                        [endpoint(event), (HTTPAttribute.outcome, reason.rawValue)])
                case .cacheEvicted(let entries):
                    handles.count(MetricSeries(MetricName.cacheEvictions, []), by: entries)
                default: break
                }
            }

            private func end(_ event: RequestEvent, _ error: RequestError?) {
                guard let record = event.metadata.state(of: self, as: Record.self) else { return }
                let start = Duration.nanoseconds(record.startedAt.load(ordering: .relaxed))
                self.record(
                    event.uptime - start, MetricName.totalDuration,
                    [
                        endpoint(event), (HTTPAttribute.source, event.response?.source.rawValue),
                        (HTTPAttribute.errorType, error.map(HTTPAttribute.type(of:))),
                    ])
            }

            private func change(_ host: String, _ state: CircuitBreakerPolicy.State) {
                let server = server(host: host)
                count(MetricName.circuitChanges, [server, (HTTPAttribute.outcome, state.rawValue)])
                let value: Int64 =
                    switch state {
                    case .closed: 0
                    case .halfOpen: 1
                    case .open: 2
                    }
                handles.set(value, of: MetricSeries(MetricName.circuitState, [server]))
            }

            func handle(_ event: ConnectionEvent) {
                let transport = (HTTPAttribute.transport, event.transport as String?)
                handles.set(
                    Int64(event.openConnections),
                    of: MetricSeries(MetricName.openConnections, [transport]))
                if let reason = event.closeReason {
                    count(
                        MetricName.closedConnections,
                        [transport, (HTTPAttribute.outcome, reason.rawValue)])
                }
            }

            private func count(_ name: String, _ dimensions: [(String, String?)]) {
                handles.count(MetricSeries(name, dimensions))
            }

            func record(_ duration: Duration, _ name: String, _ dimensions: [(String, String?)]) {
                handles.record(duration, in: MetricSeries(name, dimensions))
            }
        }
    }

    extension MetricsListener: RequestInstrument {
        package func willStart(_ description: inout RequestDescription) {
            description.metadata.attach(Record(), of: core)
        }

        package func willSend(
            _ request: inout TransportRequest, attempt: Int, of description: RequestDescription,
            _ configuration: Configuration, over transport: any Transport
        ) -> TransferObserver? {
            let server = core.server(request.url)
            let method = (HTTPAttribute.method, HTTPAttribute.name(of: request.method) as String?)
            let active = MetricSeries(MetricName.activeRequests, [method] + server)
            let requestSize = request.body?.lengthToSend
            let started = ContinuousClock.now
            core.handles.add(1, to: active)
            return { [core] response, end in
                let elapsed = end.timings.finished ?? started.duration(to: .now)
                core.handles.add(-1, to: active)
                let transfer = [method] + server + Self.dimensions(of: response, end)
                core.record(elapsed, MetricName.requestDuration, transfer)
                if let requestSize {
                    core.handles.record(
                        requestSize, in: MetricSeries(MetricName.requestBodySize, transfer))
                }
                if response != nil {
                    core.handles.record(
                        end.timings.bytesReceived,
                        in: MetricSeries(MetricName.responseBodySize, transfer))
                }
                if let isReused = end.timings.reusedConnection {
                    core.handles.count(
                        MetricSeries(
                            MetricName.connections,
                            server + [(HTTPAttribute.outcome, isReused ? "reused" : "opened")]))
                }
            }
        }

        /// The dimensions of a response, or of an error.
        private static func dimensions(
            of response: Response?, _ end: TransferEnd
        ) -> [(String, String?)] {
            let code = response?.statusCode
            // A status outside the classes of RFC 9110 is counted as one.
            let status = code.map { (100..<600).contains($0) ? "\($0)" : BoundedNames.other }
            let type: String? =
                if let error = end.error {
                    HTTPAttribute.type(of: error)
                } else if let code, code >= 400 {
                    status
                } else {
                    nil
                }
            return [
                (HTTPAttribute.status, status), (HTTPAttribute.errorType, type),
                (HTTPAttribute.protocolVersion, response?.httpVersion.map(HTTPAttribute.name(of:))),
            ]
        }
    }
#else
    /// Records metrics of requests with swift-metrics; requires the package trait `Metrics`.
    @available(
        *, unavailable,
        message:
            "Enable the package trait Metrics in Package.swift: .package(url: \"…/errand.git\", …, traits: [.defaults, \"Metrics\"])"
    )
    public struct MetricsListener {}
#endif
