#if Configuration
    import ErrandCore

    /// One setting that operators change: its key, and how its value changes a configuration.
    struct Setting {
        let keys: [String]
        let apply: (SettingReader, inout ErrandCore.Configuration) throws(RequestError) -> Void

        private init(
            _ keys: String...,
            apply:
                @escaping (SettingReader, inout ErrandCore.Configuration) throws(RequestError)
                -> Void
        ) {
            self.keys = keys
            self.apply = apply
        }
    }

    extension Setting {
        typealias Path<Value> = WritableKeyPath<ErrandCore.Configuration, Value>

        private static func text(_ key: String, _ path: Path<String?>) -> Setting {
            Setting(key) { reader, configuration throws(RequestError) in
                if let value = try reader.string(key) { configuration[keyPath: path] = value }
            }
        }

        private static func bool(_ key: String, _ path: Path<Bool>) -> Setting {
            Setting(key) { reader, configuration throws(RequestError) in
                if let value = try reader.bool(key) { configuration[keyPath: path] = value }
            }
        }

        private static func int(_ key: String, from minimum: Int, _ path: Path<Int>) -> Setting {
            Setting(key) { reader, configuration throws(RequestError) in
                if let value = try reader.int(key, in: minimum...Int.max) {
                    configuration[keyPath: path] = value
                }
            }
        }

        private static func int(_ key: String, from minimum: Int, _ path: Path<Int?>) -> Setting {
            Setting(key) { reader, configuration throws(RequestError) in
                if let value = try reader.int(key, in: minimum...Int.max) {
                    configuration[keyPath: path] = value
                }
            }
        }

        private static func seconds(_ key: String, _ path: Path<Duration>) -> Setting {
            Setting(key) { reader, configuration throws(RequestError) in
                if let value = try reader.seconds(key) { configuration[keyPath: path] = value }
            }
        }

        /// A time limit; zero means none.
        private static func limit(_ key: String, _ path: Path<Duration?>) -> Setting {
            Setting(key) { reader, configuration throws(RequestError) in
                if let value = try reader.seconds(key) {
                    configuration[keyPath: path] = value == .zero ? nil : value
                }
            }
        }

        private static func choice<Value>(
            _ key: String, _ path: Path<Value>, _ values: [(name: String, value: Value)]
        ) -> Setting {
            Setting(key) { reader, configuration throws(RequestError) in
                if let value = try reader.choice(key, values) {
                    configuration[keyPath: path] = value
                }
            }
        }
    }

    extension Setting {
        /// All settings; the article OperatorSettings has the table.
        static var all: [Setting] {
            service + timeouts + retries + protection + transport + caching
        }

        private static var service: [Setting] {
            [
                url("baseURL", \.baseURL), url("cdnURL", \.cdnURL),
                text("environment", \.environment), text("userAgent", \.userAgent),
            ]
        }

        private static func url(_ key: String, _ path: Path<EndpointURL?>) -> Setting {
            Setting(key) { reader, configuration throws(RequestError) in
                guard let text = try reader.string(key) else { return }
                guard let url = try? HTTPURL(parsing: text), url.isAbsoluteHTTP, url.isValid else {
                    throw SettingReader.invalid(
                        key, (try? HTTPURL(parsing: text))?.redacted,
                        "an absolute URL, such as https://api.example.com/v1")
                }
                configuration[keyPath: path] = EndpointURL(raw: text)
            }
        }

        private static var timeouts: [Setting] {
            [
                limit("timeouts.connectSeconds", \.timeouts.connect),
                limit("timeouts.idleSeconds", \.timeouts.idle),
                limit("timeouts.totalSeconds", \.timeouts.total),
            ]
        }

        private static var retries: [Setting] {
            [
                int("retry.maximumAttempts", from: 1, \.retryPolicy.maximumAttempts),
                seconds("retry.baseDelaySeconds", \.retryPolicy.baseDelay),
                seconds("retry.maximumDelaySeconds", \.retryPolicy.maximumDelay),
                seconds("retry.maximumRetryAfterSeconds", \.retryPolicy.maximumRetryAfter),
                limit("retry.attemptTimeoutSeconds", \.retryPolicy.attemptTimeout),
                bool("retry.retriesNonIdempotent", \.retryPolicy.retriesNonIdempotent),
                bool("retry.sendsIdempotencyKey", \.retryPolicy.sendsIdempotencyKey),
                Setting("retry.statusCodes") { reader, configuration throws(RequestError) in
                    if let codes = try reader.ints("retry.statusCodes", in: 100...599) {
                        configuration.retryPolicy.retryableStatusCodes = Set(codes)
                    }
                },
                Setting("retryBudget.ratio", "retryBudget.reserve") {
                    reader, configuration throws(RequestError) in
                    let ratio = try reader.double("retryBudget.ratio", "a number of at least 0")
                    let reserve = try reader.int("retryBudget.reserve", in: 0...Int.max)
                    guard ratio != nil || reserve != nil else { return }
                    var budget = configuration.retryBudget ?? RetryBudget()
                    if let ratio { budget.ratio = ratio }
                    if let reserve { budget.reserve = reserve }
                    configuration.retryBudget = budget
                },
                int("redirects.maximumCount", from: 0, \.redirectPolicy.maximumCount),
            ]
        }

        private static var protection: [Setting] {
            [
                int("limits.total", from: 1, \.limits.total),
                int("limits.perHost", from: 1, \.limits.perHost),
                int("limits.waiting", from: 0, \.limits.waiting),
                Setting("circuitBreaker.failures", "circuitBreaker.pauseSeconds") {
                    reader, configuration throws(RequestError) in
                    let failures = try reader.int("circuitBreaker.failures", in: 1...Int.max)
                    let pause = try reader.seconds("circuitBreaker.pauseSeconds")
                    guard failures != nil || pause != nil else { return }
                    var policy = configuration.circuitBreaker ?? CircuitBreakerPolicy()
                    if let failures { policy.failures = failures }
                    if let pause { policy.pause = pause }
                    configuration.circuitBreaker = policy
                },
                Setting("rateLimit.requests", "rateLimit.perSeconds", "rateLimit.burst") {
                    reader, configuration throws(RequestError) in
                    try setRateLimit(reader, &configuration)
                },
                bool("rateLimit.learnsFromResponses", \.learnsRateLimits),
            ]
        }

        private static func setRateLimit(
            _ reader: SettingReader, _ configuration: inout ErrandCore.Configuration
        ) throws(RequestError) {
            let requests = try reader.int("rateLimit.requests", in: 1...Int.max)
            let period = try reader.seconds("rateLimit.perSeconds")
            let burst = try reader.int("rateLimit.burst", in: 1...Int.max)
            guard requests != nil || period != nil || burst != nil else { return }
            guard let requests else {
                throw RequestError(
                    .invalidConfiguration, stage: .build,
                    "The configuration key rateLimit.requests is missing. Set the number of requests per period, or "
                        + "remove the other keys of rateLimit.")
            }
            if period == .zero {
                throw SettingReader.invalid("rateLimit.perSeconds", "0", "a number above zero")
            }
            configuration.rateLimit = RateLimit(
                requests: requests, per: period ?? .seconds(1), burst: burst)
        }

        private static var transport: [Setting] {
            [
                Setting("proxy.url", "proxy.bypass") { reader, configuration throws(RequestError) in
                    try setProxy(reader, &configuration)
                },
                choice(
                    "transport.httpVersion", \.transportOptions.httpVersion,
                    [
                        ("automatic", .automatic), ("http11", .http11), ("http2", .http2),
                        ("http2PriorKnowledge", .http2PriorKnowledge),
                    ]),
                choice(
                    "transport.addressFamily", \.transportOptions.addressFamily,
                    [("any", .any), ("ipv4", .ipv4), ("ipv6", .ipv6)]),
                Setting("transport.maximumBodyBytes") {
                    reader, configuration throws(RequestError) in
                    let key = "transport.maximumBodyBytes"
                    if let value = try reader.int(key, in: 0...Int.max) {
                        configuration.transportOptions.maximumBodyBytes = Int64(value)
                    }
                },
                Setting("transport.maximumBytesInMemory") {
                    reader, configuration throws(RequestError) in
                    let key = "transport.maximumBytesInMemory"
                    if let value = try reader.int(key, in: 0...Int.max) {
                        configuration.transportOptions.maximumBytesInMemory = Int64(value)
                    }
                },
                int(
                    "transport.maximumHeadBytes", from: 1,
                    \.transportOptions.maximumHeadBytes),
            ]
        }

        private static func setProxy(
            _ reader: SettingReader, _ configuration: inout ErrandCore.Configuration
        ) throws(RequestError) {
            let bypass = try reader.strings("proxy.bypass")
            // It can contain user and password.
            guard let url = try reader.string("proxy.url", isSecret: true) else {
                guard bypass == nil else {
                    throw RequestError(
                        .invalidConfiguration, stage: .build,
                        "The configuration key proxy.url is missing. Set the proxy, or remove proxy.bypass."
                    )
                }
                return
            }
            switch url {
            case "environment": configuration.transportOptions.proxy = .environment
            case "none": configuration.transportOptions.proxy = .none
            default: configuration.transportOptions.proxy = .url(url, bypass: bypass ?? [])
            }
            do throws(RequestError) {
                try configuration.transportOptions.proxy.check()
            } catch {
                throw RequestError(
                    .invalidConfiguration, stage: .build,
                    "The configuration key proxy.url or proxy.bypass cannot be used. \(error.message)"
                )
            }
        }

        private static var caching: [Setting] {
            [
                choice(
                    "cache.policy", \.cachePolicy,
                    [
                        ("cacheElseLoad", .cacheElseLoad), ("loadElseCache", .loadElseCache),
                        ("cacheOnly", .cacheOnly), ("reload", .reload),
                        ("cacheThenLoad", .cacheThenLoad), ("http", .http),
                        ("httpThenLoad", .httpThenLoad),
                    ])
            ]
        }
    }
#endif
