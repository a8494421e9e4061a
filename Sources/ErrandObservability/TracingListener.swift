#if Tracing
    public import ErrandCore
    package import ErrandTransport
    import HTTPTypes
    public import Tracing

    /// Records spans of requests with swift-distributed-tracing, and sends trace context to chosen servers.
    ///
    ///     configuration.eventListeners = [TracingListener()]
    ///
    /// It requires the package trait `Tracing`; without the trait, swift-distributed-tracing is not resolved.
    ///
    /// A request has a span with the name of its endpoint, which includes waits, delays and the cache. The
    /// parent of this span is `ServiceContext.current` where the request is started. Within it, each transfer
    /// has a span of kind `client` with the name of its method: the first attempt, each retry, each followed
    /// redirect and each repetition with refreshed credentials. Names and attributes are those of the
    /// OpenTelemetry conventions for HTTP clients. The article RequestTracing lists them.
    public struct TracingListener: RequestEventListener {
        private let core: Core

        /// Creates a listener.
        ///
        /// - Parameters:
        ///   - tracer: The tracer. Default `nil`: `InstrumentationSystem.tracer` when a request is started.
        ///   - propagation: The servers that receive trace context. Default ``Propagation/baseURL``.
        ///   - visibleQueryNames: The names of query parameters whose values are in `url.full`, percent-encoded as in
        ///     the URL. Default none: `REDACTED` is in place of each value.
        public init(
            tracer: (any Tracer)? = nil, propagation: Propagation = .baseURL,
            visibleQueryNames: Set<String> = []
        ) {
            core = Core(
                tracer: tracer, propagation: propagation,
                urls: SanitizedURL(visibleQueryNames: visibleQueryNames))
        }

        /// Adds the event to the span of its request.
        public func handle(_ event: RequestEvent) {
            event.metadata.state(of: core, as: RequestSpan.self)?.add(event)
        }

        private final class Core: Sendable {
            let tracer: (any Tracer)?
            let propagation: Propagation
            let urls: SanitizedURL

            init(tracer: (any Tracer)?, propagation: Propagation, urls: SanitizedURL) {
                self.tracer = tracer
                self.propagation = propagation
                self.urls = urls
            }
        }
    }

    extension TracingListener {
        /// The servers that receive the headers of the tracer, such as `traceparent`.
        ///
        /// They identify the trace, and can contain values of the application (`baggage`). A redirect to a server that
        /// the rule does not allow does not have them.
        public struct Propagation: Sendable {
            private enum Rule: Sendable {
                case none, baseURL, all
                case hosts([HostPattern])
            }

            private let rule: Rule

            /// No server.
            public static let none = Propagation(rule: .none)
            /// The server of the configuration's base URL, or of its environment: the same scheme, host and port.
            public static let baseURL = Propagation(rule: .baseURL)
            /// All servers, for example behind a proxy that removes the headers.
            public static let all = Propagation(rule: .all)

            /// The hosts of some patterns, with any scheme and port.
            ///
            /// An invalid pattern matches no host.
            public static func hosts(_ patterns: [HostPattern]) -> Propagation {
                Propagation(rule: .hosts(patterns))
            }

            func allows(_ url: HTTPURL, _ configuration: Configuration) -> Bool {
                switch rule {
                case .none: return false
                case .all: return true
                case .hosts(let patterns):
                    guard let host = url.host else { return false }
                    return patterns.contains { $0.matches(host) }
                case .baseURL:
                    guard let own = try? configuration.inEnvironment().baseURL, own.fault == nil,
                        let base = try? HTTPURL(parsingEndpoint: own.text)
                    else { return false }
                    return url.hasOrigin(of: base)
                }
            }
        }
    }

    extension TracingListener: RequestInstrument {
        package func willStart(_ description: inout RequestDescription) {
            let tracer = core.tracer ?? InstrumentationSystem.tracer
            let span = RequestSpan(tracer, description, core.urls)
            description.metadata.attach(span, of: core)
        }

        package func willSend(
            _ request: inout TransportRequest, attempt: Int, of description: RequestDescription,
            _ configuration: Configuration, over transport: any Transport
        ) -> TransferObserver? {
            guard let span = description.metadata.state(of: core, as: RequestSpan.self) else {
                return nil
            }
            let transfer = span.transfer(request)
            if core.propagation.allows(request.url, configuration) {
                let instrument: any Instrument =
                    if let tracer = core.tracer { tracer } else { InstrumentationSystem.instrument }
                var headers = request.headers
                instrument.inject(transfer.context, into: &headers, using: HeaderInjector())
                request.headers = headers
            }
            return { response, end in transfer.end(response, end) }
        }
    }

    /// Writes trace context into header fields.
    struct HeaderInjector: Injector {
        /// Replaces the field; a name or value that HTTP does not allow is left out.
        func inject(_ value: String, forKey key: String, into carrier: inout HTTPFields) {
            guard let name = HTTPField.Name(key), HTTPField.isValidValue(value) else { return }
            carrier[name] = value
        }
    }
#else
    /// Records spans of requests with swift-distributed-tracing; requires the package trait `Tracing`.
    @available(
        *, unavailable,
        message:
            "Enable the package trait Tracing in Package.swift: .package(url: \"…/errand.git\", …, traits: [.defaults, \"Tracing\"])"
    )
    public struct TracingListener {}
#endif
