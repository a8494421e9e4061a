#if Inspector
    public import ErrandCore
    import ErrandHTTP
    public import ErrandRecording
    public import ErrandSystem

    /// Shows the requests of an agent in a web page on this machine.
    ///
    ///     let inspector = try await Inspector.start(agent)
    ///     // Prints: Inspector: http://127.0.0.1:49731/?token=…
    ///
    /// The page shows each request live, with its phases, messages, cache decision, attempts and reasons to wait. It can
    /// send a request again with changes, and delay, hold, replace or fail transfers by rule.
    ///
    /// It requires the package trait `Inspector`; without the trait, the server of the page is not built.
    ///
    /// The inspector is for development. It listens on the loopback interface only, and each call needs the token of the
    /// URL. Secrets are replaced by ``RedactionRules`` before they leave the process. In a release build ``start(_:options:)``
    /// fails, unless ``Options/isEnabledInReleaseBuilds`` is set.
    ///
    /// Events of requests are recorded only while a page is open: for 30 seconds after its last call. Requests that start at
    /// other times cost little; the page shows their messages, times and results.
    ///
    /// Memory is bounded by ``Options/maximumRequests`` and ``Options/maximumMemory``. Without an inspector, nothing is
    /// recorded and nothing is measured.
    public final class Inspector: Sendable {
        /// The settings of an inspector.
        public struct Options: Sendable {
            /// The port of the loopback interface.
            ///
            /// Default 0: the system chooses a free one.
            public var port: UInt16 = 0
            /// The number of requests that are kept; the oldest are removed first.
            ///
            /// Default 2,000. A request needs about 4 KiB without its bodies.
            public var maximumRequests = 2000
            /// The largest body that is kept, in bytes.
            ///
            /// Default 1 MiB. Of a WebSocket, the latest 1,000 messages are kept, with at most this number of bytes.
            public var maximumBodyBytes = 1 << 20
            /// The memory for all bodies, in bytes; the oldest are removed first.
            ///
            /// Default 32 MiB.
            public var maximumMemory = 32 << 20
            /// Which values the page does not show.
            ///
            /// Default ``RedactionRules/standard``.
            public var redaction = RedactionRules.standard
            /// Whether the inspector also starts in a release build.
            ///
            /// Default false.
            public var isEnabledInReleaseBuilds = false
            /// Whether the URL is printed to the standard output.
            ///
            /// Default true.
            public var printsURL = true

            /// Creates options with the default values.
            public init() {}
        }

        /// The URL of the page, with its token.
        public let url: URL

        private let agent: RequestAgent
        let recorder: InspectorRecorder
        private let server: InspectorServer

        private init(
            _ url: URL, _ agent: RequestAgent, _ recorder: InspectorRecorder,
            _ server: InspectorServer
        ) {
            self.url = url
            self.agent = agent
            self.recorder = recorder
            self.server = server
        }

        /// Starts an inspector of an agent, and prints the URL of its page.
        ///
        /// Requests that start from now on are recorded. The inspector is a listener of the agent's configuration: a
        /// later assignment of another configuration removes it; ``RequestAgent/reconfigure(_:)`` keeps it.
        ///
        /// - Parameters:
        ///   - agent: The agent.
        ///   - options: The settings.
        /// - Throws: ``RequestError/Code/invalidConfiguration`` in a release build that does not enable the inspector,
        ///   for an agent that has one, and for a limit below 1; ``RequestError/Code/cannotConnect`` if the port is in
        ///   use.
        public static func start(
            _ agent: RequestAgent, options: Options = Options()
        ) async throws(RequestError) -> Inspector {
            try StartCheck(
                isReleaseBuild: StartCheck.isReleaseBuild,
                isEnabledInReleaseBuilds: options.isEnabledInReleaseBuilds,
                hasInspector: agent.configuration.eventListeners.contains {
                    $0 is InspectorRecorder
                },
                limits: [
                    "maximumRequests": options.maximumRequests,
                    "maximumBodyBytes": options.maximumBodyBytes,
                    "maximumMemory": options.maximumMemory,
                ]
            ).check()
            let recorder = InspectorRecorder(
                limits: InspectorRecorder.Limits(
                    requests: options.maximumRequests, bodyBytes: options.maximumBodyBytes,
                    memory: options.maximumMemory), clock: agent.clock)
            let token = AccessCheck.makeToken()
            let api = InspectorAPI(agent: agent, recorder: recorder, redaction: options.redaction)
            let server = try InspectorServer.start(
                port: options.port, token: token, api: api)
            guard let url = URL(string: "http://127.0.0.1:\(server.port)/?token=\(token)") else {
                await server.stop()
                throw RequestError(.invalidURL, stage: .build, "The inspector has no URL.")
            }
            agent.reconfigure { $0.eventListeners.append(recorder) }
            if options.printsURL { print("Inspector: \(url.absoluteString)") }
            return Inspector(url, agent, recorder, server)
        }

        /// Closes the page's port, continues held transfers, and stops recording.
        ///
        /// A second call has no effect.
        public func stop() async {
            agent.reconfigure { [recorder] configuration in
                configuration.eventListeners.removeAll { $0 as? InspectorRecorder === recorder }
            }
            recorder.rules.replace([])
            recorder.rules.releaseAll()
            await server.stop()
        }
    }
#else
    /// Shows the requests of an agent in a web page; requires the package trait `Inspector`.
    @available(
        *, unavailable,
        message:
            "Enable the package trait Inspector in Package.swift: .package(url: \"…/errand.git\", …, traits: [.defaults, \"Inspector\"])"
    )
    public struct Inspector {}
#endif
