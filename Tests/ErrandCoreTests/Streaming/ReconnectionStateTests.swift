import ErrandHTTP
import Testing

@testable import ErrandCore

struct ReconnectionStateTests {
    private typealias Ending = ReconnectionState.Ending

    /// The largest number below 1 that the jitter uses in these tests.
    private static let high = 0.999

    private static func error(
        _ code: RequestError.Code, status: Int? = nil, timeout: RequestError.TimeoutKind? = nil
    ) -> RequestError {
        var error = RequestError(code, stage: .transport, "A test.")
        error.timeout = timeout
        if let status, let url = try? HTTPURL(parsing: "https://api.example.com/events") {
            error.response = Response(status: .init(code: status), url: url)
        }
        return error
    }

    private static let lost = Ending.failed(error(.connectionLost))

    /// The action as text.
    private static func text(_ action: ReconnectionState.Action) -> String {
        switch action {
        case .finish: "finish"
        case .fail(let error): "fail \(error.code)"
        case .reconnect(let delay): "\(delay)"
        }
    }

    /// The actions after successive endings without an event between them.
    private static func actions(
        _ endings: [Ending], limit: Int? = nil, policy: RetryPolicy = RetryPolicy(),
        time: Duration? = nil, retryAfter: Duration? = nil, random: Double = 0
    ) -> [String] {
        var state = ReconnectionState(limit: limit, policy: policy)
        return endings.map {
            text(
                state.ended(
                    $0, reconnectionTime: time, retryAfter: retryAfter, random: random))
        }
    }

    // MARK: - Endings

    @Test
    func noContentFinishesWhateverTheLimit() {
        for limit in [nil, 0, 1, 5] {
            #expect(Self.actions([.noContent], limit: limit) == ["finish"])
            #expect(Self.actions([.complete, .noContent], limit: limit).last == "finish")
        }
    }

    @Test
    func completeBodyIsFollowedByAConnectionAfterTheReconnectionTime() {
        #expect(ReconnectionState.defaultTime == .seconds(3))
        for random in [0, Self.high] {
            #expect(Self.actions([.complete], random: random) == ["3.0 seconds"])
            #expect(
                Self.actions([.complete], time: .milliseconds(700), random: random)
                    == ["0.7 seconds"])
        }
    }

    /// The server can request neither a loop without a pause nor a pause without an end.
    @Test(arguments: [
        (Duration.zero, "0.5 seconds"), (.milliseconds(1), "0.5 seconds"),
        (.milliseconds(499), "0.5 seconds"), (.milliseconds(500), "0.5 seconds"),
        (.seconds(3600), "3600.0 seconds"), (.seconds(3601), "3600.0 seconds"),
        (.seconds(1 << 32), "3600.0 seconds"),
    ])
    func reconnectionTimeHasBounds(time: Duration, delay: String) {
        for ending in [.complete, Self.lost] {
            #expect(Self.actions([ending], time: time, random: Self.high) == [delay])
        }
    }

    /// Also with a policy that adds no delay.
    @Test
    func connectionsWithoutAPauseAreDelayedInEveryRow() {
        for ending in [.complete, Self.lost] {
            let actions = Self.actions(
                Array(repeating: ending, count: 5), policy: RetryPolicy(baseDelay: .zero),
                time: .zero)
            #expect(actions == Array(repeating: "0.5 seconds", count: 5))
        }
    }

    private static let retryable: [RequestError] = [
        error(.connectionLost), error(.cannotFindHost), error(.cannotConnect),
        error(.truncatedBody), error(.transportFailed), error(.timedOut, timeout: .idle),
        error(.timedOut), error(.offline), error(.circuitOpen),
        error(.unacceptableStatus, status: 503),
        error(.unacceptableStatus, status: 408), error(.unacceptableStatus, status: 425),
        error(.unacceptableStatus, status: 429), error(.unacceptableStatus, status: 500),
        error(.unacceptableStatus, status: 502), error(.unacceptableStatus, status: 504),
    ]

    @Test(arguments: retryable)
    func interruptionAndRetryableStatusReconnect(error: RequestError) {
        #expect(Self.actions([.failed(error)]) == ["3.0 seconds"])
        #expect(Self.actions([.failed(error)], limit: 1) == ["3.0 seconds"])
        #expect(Self.actions([.failed(error)], limit: 0) == ["fail \(error.code)"])
    }

    private static let final: [RequestError] = [
        error(.timedOut, timeout: .total), error(.cancelled), error(.bodyTooLarge),
        error(.unacceptableContentType), error(.invalidCombination), error(.agentShutDown),
        error(.unacceptableStatus, status: 404), error(.unacceptableStatus, status: 401),
        error(.unacceptableStatus, status: 501), error(.unacceptableStatus),
        error(.undecodable), error(.secureConnectionFailed),
    ]

    @Test(arguments: final)
    func otherErrorsAreTheEnd(error: RequestError) {
        for limit in [nil, 0, 7] {
            #expect(Self.actions([.failed(error)], limit: limit) == ["fail \(error.code)"])
            #expect(
                Self.actions([.complete, .failed(error)], limit: limit).last
                    == "fail \(error.code)")
        }
    }

    @Test
    func statusesAreThoseOfThePolicy() {
        let policy = RetryPolicy(retryableStatusCodes: [404])
        func action(_ status: Int) -> [String] {
            Self.actions(
                [.failed(Self.error(.unacceptableStatus, status: status))], policy: policy)
        }
        #expect(action(404) == ["3.0 seconds"])
        #expect(action(503) == ["fail unacceptableStatus"])
    }

    // MARK: - Limits

    @Test(arguments: 0...4)
    func limitCountsFailuresInARowWithoutAnEvent(limit: Int) {
        let policy = RetryPolicy(baseDelay: .zero)
        let lost = Self.actions(
            Array(repeating: Self.lost, count: 5), limit: limit, policy: policy)
        let delays = Array(repeating: "3.0 seconds", count: limit)
        #expect(lost == delays + Array(repeating: "fail connectionLost", count: 5 - limit))
    }

    /// A connection that ends regularly is no failure, and starts the count again; 0 is no reconnection.
    @Test(arguments: 0...3)
    func limitDoesNotCountConnectionsThatEndRegularly(limit: Int) {
        let policy = RetryPolicy(baseDelay: .zero)
        let complete = Self.actions(
            Array(repeating: .complete, count: 9), limit: limit, policy: policy)
        #expect(
            complete == Array(repeating: limit == 0 ? "finish" : "3.0 seconds", count: 9))
        guard limit > 0 else { return }
        let failures = Array(repeating: Self.lost, count: limit)
        let mixed = Self.actions(
            failures + [.complete] + failures + [Self.lost], limit: limit, policy: policy)
        #expect(mixed.dropLast().allSatisfy { $0 == "3.0 seconds" })
        #expect(mixed.last == "fail connectionLost")
    }

    @Test
    func eventResetsTheCountAndTheDelay() {
        var state = ReconnectionState(limit: 2, policy: RetryPolicy(baseDelay: .seconds(1)))
        func end(_ ending: Ending) -> String {
            Self.text(state.ended(ending, reconnectionTime: .seconds(1), random: 1))
        }
        for _ in 0..<3 {
            #expect(end(Self.lost) == "1.0 seconds")
            #expect(end(Self.lost) == "2.0 seconds")
            state.received()
        }
        #expect(end(.complete) == "1.0 seconds")
        #expect(end(.complete) == "2.0 seconds")
        #expect(end(.complete) == "3.0 seconds")
        #expect(end(Self.lost) == "5.0 seconds")
        #expect(end(Self.lost) == "9.0 seconds")
        #expect(end(Self.lost) == "fail connectionLost")
    }

    // MARK: - Delays

    /// The bounds of the delays with the default policy: 500 ms that double, up to 30 s.
    @Test
    func delayGrowsUpToTheMaximumOfThePolicy() {
        let endings = Array(repeating: Self.lost, count: 10)
        let low = Self.actions(endings, time: .seconds(2), random: 0)
        #expect(low == Array(repeating: "2.0 seconds", count: 10))
        var state = ReconnectionState(limit: nil, policy: RetryPolicy())
        var delays: [Duration] = []
        for ending in endings {
            let action = state.ended(ending, reconnectionTime: .seconds(2), random: Self.high)
            if case .reconnect(let delay) = action { delays.append(delay) }
        }
        let bounds: [Duration] = [
            .zero, .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8),
            .seconds(16), .seconds(30), .seconds(30), .seconds(30),
        ]
        #expect(delays == bounds.map { .seconds(2) + $0 * Self.high })
    }

    @Test
    func manyAttemptsDoNotOverflow() {
        let policy = RetryPolicy(baseDelay: .seconds(Int64.max), maximumDelay: .seconds(Int64.max))
        let last = Self.actions(
            Array(repeating: .complete, count: 100), policy: policy, time: .seconds(1 << 32),
            random: Self.high
        ).last
        #expect(last?.hasSuffix("seconds") == true)
    }

    // MARK: - Retry-After

    private static let unavailable = Ending.failed(error(.unacceptableStatus, status: 503))

    @Test
    func retryAfterIsALowerBoundOfTheDelay() {
        #expect(
            Self.actions([Self.unavailable], retryAfter: .seconds(20)) == ["20.0 seconds"])
        #expect(Self.actions([Self.unavailable], retryAfter: .seconds(2)) == ["3.0 seconds"])
        #expect(Self.actions([Self.unavailable], retryAfter: .zero) == ["3.0 seconds"])
        #expect(Self.actions([Self.unavailable], retryAfter: .seconds(-5)) == ["3.0 seconds"])
        let policy = RetryPolicy(baseDelay: .seconds(100), maximumDelay: .seconds(100))
        let actions = Self.actions(
            [Self.unavailable, Self.unavailable], policy: policy, retryAfter: .seconds(20),
            random: 0.5)
        #expect(actions == ["20.0 seconds", "53.0 seconds"])
    }

    @Test
    func retryAfterAboveTheMaximumOfThePolicyIsTheEnd() {
        let policy = RetryPolicy(maximumRetryAfter: .seconds(20))
        #expect(
            Self.actions([Self.unavailable], policy: policy, retryAfter: .seconds(20))
                == ["20.0 seconds"])
        #expect(
            Self.actions([Self.unavailable], policy: policy, retryAfter: .milliseconds(20_001))
                == ["fail unacceptableStatus"])
    }
}
