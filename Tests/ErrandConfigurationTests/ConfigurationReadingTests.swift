#if Configuration
    import Configuration
    import ErrandConfiguration
    import ErrandCore
    import TestSupport
    import Testing

    @Suite(.limited) struct ConfigurationReadingTests {
        private func reader(
            _ values: [AbsoluteConfigKey: ConfigValue]
        ) -> ConfigReader {
            ConfigReader(provider: InMemoryProvider(values: values))
        }

        private func message(
            _ values: [AbsoluteConfigKey: ConfigValue]
        ) -> String? {
            do throws(RequestError) {
                _ = try ErrandCore.Configuration(reading: reader(values))
                return nil
            } catch {
                #expect(error.code == .invalidConfiguration)
                return error.message
            }
        }

        @Test func absentKeysKeepTheDefaults() throws {
            var defaults = ErrandCore.Configuration(baseURL: "https://a.example")
            defaults.timeouts.idle = .seconds(7)
            defaults.sharedHeaders = [.accept: "text/plain"]
            let read = try ErrandCore.Configuration(reading: reader([:]), defaults: defaults)
            #expect(read.baseURL == "https://a.example")
            #expect(read.timeouts == defaults.timeouts)
            #expect(read.retryPolicy == .none)
            #expect(read.retryBudget == nil)
            #expect(read.circuitBreaker == nil)
            #expect(read.rateLimit == nil)
            #expect(read.limits == RequestLimits())
            #expect(read.transportOptions == TransportOptions())
            #expect(read.sharedHeaders == [.accept: "text/plain"])
        }

        @Test func everyKeyHasAnEffect() throws {
            let read = try ErrandCore.Configuration(
                reading: reader([
                    "baseURL": "https://b.example/v1", "cdnURL": "https://cdn.example",
                    "environment": "test", "userAgent": "app/1",
                    "timeouts.connectSeconds": 2.5, "timeouts.idleSeconds": 0.0,
                    "timeouts.totalSeconds": 90.0,
                    "retry.maximumAttempts": 4, "retry.baseDelaySeconds": 0.25,
                    "retry.maximumDelaySeconds": 5.0, "retry.maximumRetryAfterSeconds": 6.0,
                    "retry.attemptTimeoutSeconds": 7.0, "retry.retriesNonIdempotent": true,
                    "retry.sendsIdempotencyKey": true,
                    "retry.statusCodes": ConfigValue(.intArray([500, 503]), isSecret: false),
                    "retryBudget.ratio": 0.5, "retryBudget.reserve": 3,
                    "redirects.maximumCount": 2,
                    "limits.total": 10, "limits.perHost": 5, "limits.waiting": 100,
                    "circuitBreaker.failures": 2, "circuitBreaker.pauseSeconds": 9.0,
                    "rateLimit.requests": 8, "rateLimit.perSeconds": 2.0, "rateLimit.burst": 4,
                    "rateLimit.learnsFromResponses": true,
                    "proxy.url": "http://u:p@proxy.example:3128",
                    "proxy.bypass": ConfigValue(.stringArray(["10.0.0.0/8"]), isSecret: false),
                    "transport.httpVersion": "http11", "transport.addressFamily": "ipv4",
                    "transport.maximumBodyBytes": 1000, "transport.maximumBytesInMemory": 100,
                    "transport.maximumHeadBytes": 10, "cache.policy": "http",
                ]),
                defaults: Self.withEnvironment)
            #expect(read.baseURL == "https://b.example/v1")
            #expect(read.cdnURL == "https://cdn.example")
            #expect(read.environment == "test")
            #expect(read.userAgent == "app/1")
            #expect(
                read.timeouts
                    == Timeouts(connect: .seconds(2.5), idle: nil, total: .seconds(90)))
            var retry = RetryPolicy(
                maximumAttempts: 4, baseDelay: .seconds(0.25), maximumDelay: .seconds(5),
                maximumRetryAfter: .seconds(6), retryableStatusCodes: [500, 503])
            retry.attemptTimeout = .seconds(7)
            retry.retriesNonIdempotent = true
            retry.sendsIdempotencyKey = true
            #expect(read.retryPolicy == retry)
            #expect(read.retryBudget == RetryBudget(ratio: 0.5, reserve: 3))
            #expect(read.redirectPolicy.maximumCount == 2)
            #expect(read.limits == RequestLimits(total: 10, perHost: 5, waiting: 100))
            #expect(read.circuitBreaker == CircuitBreakerPolicy(failures: 2, pause: .seconds(9)))
            #expect(read.rateLimit == RateLimit(requests: 8, per: .seconds(2), burst: 4))
            #expect(read.learnsRateLimits)
            var options = TransportOptions()
            options.proxy = .url("http://u:p@proxy.example:3128", bypass: ["10.0.0.0/8"])
            options.httpVersion = .http11
            options.addressFamily = .ipv4
            options.maximumBodyBytes = 1000
            options.maximumBytesInMemory = 100
            options.maximumHeadBytes = 10
            #expect(read.transportOptions == options)
            #expect(read.cachePolicy == .http)
        }

        private static var withEnvironment: ErrandCore.Configuration {
            var configuration = ErrandCore.Configuration()
            configuration.environments = ["test": ErrandCore.Configuration.Environment()]
            return configuration
        }

        @Test func textOfEnvironmentVariablesIsConverted() throws {
            let provider = EnvironmentVariablesProvider(environmentVariables: [
                "ERRAND_BASE_URL": "https://env.example",
                "ERRAND_TIMEOUTS_IDLE_SECONDS": "1.5", "ERRAND_RETRY_MAXIMUM_ATTEMPTS": "3",
                "ERRAND_RETRY_STATUS_CODES": "500,502",
                "ERRAND_RETRY_SENDS_IDEMPOTENCY_KEY": "true",
            ])
            let read = try ErrandCore.Configuration(
                reading: ConfigReader(provider: provider).scoped(to: "errand"))
            #expect(read.baseURL == "https://env.example")
            #expect(read.timeouts.idle == .seconds(1.5))
            #expect(read.retryPolicy.maximumAttempts == 3)
            #expect(read.retryPolicy.retryableStatusCodes == [500, 502])
            #expect(read.retryPolicy.sendsIdempotencyKey)
        }

        @Test(arguments: [
            (
                "timeouts.idleSeconds", "soon",
                "The configuration key timeouts.idleSeconds is soon. Set a number of seconds, such as 2.5."
            ),
            (
                "timeouts.idleSeconds", "-1",
                "The configuration key timeouts.idleSeconds is -1.0. Set a number of seconds, such as 2.5."
            ),
            (
                "retry.maximumAttempts", "0",
                "The configuration key retry.maximumAttempts is 0. Set an integer of at least 1."
            ),
            (
                "retry.maximumAttempts", "2.5",
                "The configuration key retry.maximumAttempts is 2.5. Set an integer of at least 1."
            ),
            (
                "retry.statusCodes", "500,99",
                "The configuration key retry.statusCodes is 99. Set a list of integers from 100 to 599."
            ),
            (
                "retry.sendsIdempotencyKey", "perhaps",
                "The configuration key retry.sendsIdempotencyKey is perhaps. Set true or false."
            ),
            (
                "transport.httpVersion", "3",
                "The configuration key transport.httpVersion is 3. Set one of automatic, http11, http2, http2PriorKnowledge."
            ),
            (
                "baseURL", "api.example.com",
                "The configuration key baseURL is api.example.com. Set an absolute URL, such as https://api.example.com/v1."
            ),
        ])
        func wrongValuesAreErrors(_ key: String, _ value: String, _ text: String) throws {
            let variable = key.split(separator: ".").joined(separator: "_").reduce("") {
                $0 + ($1.isUppercase && $0.last?.isUppercase == false ? "_" : "") + String($1)
            }.uppercased()
            let provider = EnvironmentVariablesProvider(environmentVariables: [variable: value])
            let error = #expect(throws: RequestError.self) {
                try ErrandCore.Configuration(reading: ConfigReader(provider: provider))
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message == text)
        }

        @Test func valueOfAnotherTypeIsAnError() {
            #expect(
                message(["retry.maximumAttempts": true])
                    == "The configuration key retry.maximumAttempts is true. Set an integer of at least 1."
            )
            #expect(
                message(["retry.maximumAttempts": "three"])
                    == "The configuration key retry.maximumAttempts is three. Set an integer of at least 1."
            )
        }

        @Test func passwordOfAProxyIsNotShown() throws {
            let text = try #require(message(["proxy.url": "ftp://user:secret@proxy.example"]))
            #expect(text.contains("proxy.url"))
            #expect(!text.contains("secret"))
            let number = try #require(message(["proxy.url": 12]))
            #expect(number == "The configuration key proxy.url has an unusable value. Set text.")
        }

        @Test func incompleteGroupsAreErrors() {
            #expect(
                message(["rateLimit.burst": 4])?.contains("rateLimit.requests is missing") == true)
            let bypass = ConfigValue(.stringArray(["a.example"]), isSecret: false)
            #expect(message(["proxy.bypass": bypass])?.contains("proxy.url is missing") == true)
        }

        @Test func unknownEnvironmentIsAnError() {
            #expect(
                message(["environment": "prod"])?.contains("There is no environment prod") == true)
        }

        @Test func keysAreListedOnce() {
            let keys = ErrandCore.Configuration.readableKeys
            #expect(keys.count == Set(keys).count)
            #expect(keys.contains("timeouts.idleSeconds"))
            #expect(keys.contains("rateLimit.burst"))
        }

        @Test func memoryStoreReadsItsLimits() async throws {
            let store = try MemoryResponseStore(
                reading: reader(["cache.maximumBytes": 4096, "cache.maximumEntries": 2]))
            let usage = try await store.usage()
            #expect(usage.maximumBytes == 4096)
            #expect(throws: RequestError.self) {
                try MemoryResponseStore(reading: reader(["cache.maximumEntries": 0]))
            }
        }
    }
#endif
