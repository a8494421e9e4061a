import ErrandSystem
import ErrandTransport
import HTTPTypes

/// Retries failed attempts according to ``RetryPolicy``.
package final class RetryStep: DirectStep {
    private let hostHealth: HostHealth

    init(hostHealth: HostHealth) { self.hostHealth = hostHealth }

    /// Begins the first attempt; waits if its time is limited.
    package func before(
        _ pipelineRequest: inout PipelineRequest
    ) throws(RequestError) -> Passing {
        if Self.isLimited(pipelineRequest) { return .waits }
        try beginFirstAttempt(&pipelineRequest)
        return .changed
    }

    package func after(
        _ result: inout Result<Response, RequestError>, _ sent: PipelineRequest
    ) -> Bool {
        switch result {
        case .success(let response):
            result = .success(succeeded(response, sent))
            return true
        case .failure(let error):
            result = .failure(failed(error, sent))
            return false
        }
    }

    /// Performs the further attempts of the policy.
    package func resume(
        _ sent: PipelineRequest, after result: Result<Response, RequestError>, next: Next
    ) async throws(RequestError) -> Response {
        guard case .failure(let failure) = result else { return try result.get() }
        return try await attempts(from: sent, after: failure, next)
    }

    /// Performs all attempts, of which each has a time limit.
    package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        var first = pipelineRequest
        try beginFirstAttempt(&first)
        return try await attempts(from: first, after: nil, next)
    }

    /// Performs the first attempt, if that has not failed, and then the further ones of the policy.
    private func attempts(
        from first: PipelineRequest, after failure: RequestError?, _ next: Next
    ) async throws(RequestError) -> Response {
        var (pipelineRequest, failure) = (first, failure)
        while true {
            if let failure {
                Self.countProgress(&pipelineRequest)
                pipelineRequest = try await nextAttempt(after: failure, pipelineRequest)
            }
            do {
                return succeeded(try await withinLimit(pipelineRequest, next), pipelineRequest)
            } catch {
                failure = failed(error, pipelineRequest)
            }
        }
    }

    static func policy(of pipelineRequest: PipelineRequest) -> RetryPolicy {
        pipelineRequest.task.description.retryPolicy ?? pipelineRequest.configuration.retryPolicy
    }

    @inline(never)  // decision 10
    private static func isLimited(_ pipelineRequest: PipelineRequest) -> Bool {
        // Not `policy(of:)`, which copies the policy.
        if let own = pipelineRequest.task.description.retryPolicy {
            return own.attemptTimeout != nil
        }
        return pipelineRequest.task.configuration.retryPolicy.attemptTimeout != nil
    }

    /// Starts the count of attempts again with one that has made progress.
    @inline(never)  // decision 10
    private static func countProgress(_ pipelineRequest: inout PipelineRequest) {
        guard pipelineRequest.hasMadeProgress() else { return }
        pipelineRequest.earlier.beforeProgress = pipelineRequest.attempt - 1
    }

    /// The number of the attempt for the policy.
    private static func counted(_ pipelineRequest: PipelineRequest) -> Int {
        pipelineRequest.attempt - pipelineRequest.earlier.beforeProgress
    }

    private static func host(of pipelineRequest: PipelineRequest) -> String {
        pipelineRequest.request.host ?? ""
    }

    /// Prepares the first attempt.
    @inline(never)  // decision 10
    private func beginFirstAttempt(
        _ pipelineRequest: inout PipelineRequest
    ) throws(RequestError) {
        // The attempts before a repetition by `ProcessStep` count too.
        pipelineRequest.attempt += 1
        if !pipelineRequest.request.method.isIdempotent,
            Self.policy(of: pipelineRequest).sendsIdempotencyKey,
            let name = HTTPField.Name.idempotencyKey, pipelineRequest.request.headers[name] == nil
        {
            pipelineRequest.request.headers[name] =
                pipelineRequest.earlier.idempotencyKeys?.key(for: pipelineRequest.request)
                ?? UUID().uuidString
        }
        if let budget = pipelineRequest.configuration.retryBudget {
            hostHealth.deposit(budget, host: Self.host(of: pipelineRequest))
        }
        try begin(pipelineRequest)
    }

    /// Waits for the delay and prepares the next attempt; throws the error if there is none.
    private func nextAttempt(
        after failure: RequestError, _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> PipelineRequest {
        let delay = try pause(after: failure, pipelineRequest)
        pipelineRequest.task.enter(.waiting)
        try await wait(delay, after: failure, pipelineRequest)
        var pipelineRequest = pipelineRequest
        // The timings of a response already include those of earlier attempts.
        pipelineRequest.earlier.timings =
            failure.response?.timings
            ?? pipelineRequest.earlier.timings + [failure.timings].compactMap(\.self)
        pipelineRequest.earlier.errors = failure.previousErrorsOfNextAttempt
        pipelineRequest.attempt += 1
        if pipelineRequest.adaptation.serialized != nil {
            do throws(RequestError) {
                pipelineRequest.request = try await processed(pipelineRequest)
                pipelineRequest.cache.credentials?.sent(pipelineRequest.ownCredentials)
            } catch {
                throw Self.following(failure, error)
            }
        }
        do throws(RequestError) {
            try begin(pipelineRequest)
        } catch {
            var refused = error
            refused.underlying = failure
            throw Self.following(failure, refused)
        }
        return pipelineRequest
    }

    private func begin(_ pipelineRequest: PipelineRequest) throws(RequestError) {
        try checkCircuit(pipelineRequest)
        pipelineRequest.task.emit(.attemptStarted(pipelineRequest.attempt))
    }

    @inline(never)  // decision 10
    private func succeeded(_ response: Response, _ pipelineRequest: PipelineRequest) -> Response {
        var response = response
        if pipelineRequest.task.isObserved { reportAcceptedStatus(response, pipelineRequest) }
        // `TransportStep` sets the number; a replacement of it in tests may not.
        if response.attempts != pipelineRequest.attempt {
            response.attempts = pipelineRequest.attempt
        }
        updateCircuit(pipelineRequest, nil)
        pipelineRequest.task.emit(
            .attemptEnded(
                pipelineRequest.attempt, response.lastTimings ?? AttemptTimings(), nil))
        if pipelineRequest.attempt > 1 {
            response.timings = pipelineRequest.earlier.timings + response.timings
        }
        return response
    }

    @inline(never)  // decision 10
    private func failed(
        _ error: RequestError, _ pipelineRequest: PipelineRequest
    ) -> RequestError {
        var error = error
        error.attempts = pipelineRequest.attempt
        error.response?.attempts = pipelineRequest.attempt
        error.name(pipelineRequest.request, of: pipelineRequest.task)
        if pipelineRequest.attempt > 1 { error.previousErrors = pipelineRequest.earlier.errors }
        updateCircuit(pipelineRequest, error)
        let timings = error.timings ?? error.response?.timings.last ?? AttemptTimings()
        pipelineRequest.task.emit(.attemptEnded(pipelineRequest.attempt, timings, error))
        if pipelineRequest.attempt > 1, let own = error.response?.timings {
            error.response?.timings = pipelineRequest.earlier.timings + own
        }
        return error
    }

    /// An error between two attempts, which keeps the error of the failed attempt.
    private static func following(_ failure: RequestError, _ error: RequestError) -> RequestError {
        var error = error
        error.previousErrors = failure.previousErrorsOfNextAttempt
        return error
    }

    /// Reports a retryable status that is not retried because the endpoint accepts it.
    private func reportAcceptedStatus(_ response: Response, _ pipelineRequest: PipelineRequest) {
        let policy = Self.policy(of: pipelineRequest)
        if pipelineRequest.attempt < policy.maximumAttempts,
            policy.retryableStatusCodes.contains(response.statusCode)
        {
            pipelineRequest.task.emit(.retryDeclined(.acceptedStatus))
        }
    }

    /// The delay before the next attempt; throws the error if there is none.
    private func pause(
        after error: RequestError, _ pipelineRequest: PipelineRequest
    ) throws(RequestError) -> Duration {
        let policy = Self.policy(of: pipelineRequest)
        let delay: Duration
        let verdict = Self.verdict(on: error, pipelineRequest)
        switch decide(error, policy: policy, verdict, pipelineRequest) {
        case .again(let pause): delay = pause
        case .giveUp(let reason):
            if policy.maximumAttempts > 1 || verdict != .asPolicy, !error.isCancellation {
                pipelineRequest.task.emit(.retryDeclined(reason))
            }
            throw error
        }
        if let budget = pipelineRequest.configuration.retryBudget,
            !hostHealth.withdraw(budget, host: Self.host(of: pipelineRequest))
        {
            pipelineRequest.task.emit(.retryBudgetSpent)
            throw error
        }
        pipelineRequest.task.emit(.retrying(after: delay, error))
        return delay
    }

    /// Runs the processors again, for new signatures and timestamps; the idempotency key stays.
    private func processed(_ pipelineRequest: PipelineRequest) async throws(RequestError)
        -> TransportRequest
    {
        var request = pipelineRequest.adaptation.serialized ?? pipelineRequest.request
        if let name = HTTPField.Name.idempotencyKey, request.headers[name] == nil,
            let key = pipelineRequest.request.headers[name]
        {
            request.headers[name] = key
        }
        return try await RequestProcessing.process(
            request, attempt: pipelineRequest.attempt, of: pipelineRequest)
    }

    /// The verdict of the endpoint's decider, otherwise of the configuration's.
    private static func verdict(
        on error: RequestError, _ pipelineRequest: PipelineRequest
    ) -> RetryVerdict {
        let deciders = [
            pipelineRequest.task.description.sending.retryDecider,
            pipelineRequest.configuration.retryDecider,
        ].compactMap(\.self)
        guard !deciders.isEmpty, !error.isCancellation else { return .asPolicy }
        let failed = FailedAttempt(
            description: pipelineRequest.description, request: pipelineRequest.request,
            error: error, attempt: pipelineRequest.attempt)
        return deciders.lazy.map { $0(failed) }.first { $0 != .asPolicy } ?? .asPolicy
    }

    /// The delay after which a request is repeated whose response could not be processed; `nil` if that is final.
    ///
    /// - Parameter attempts: The number of attempts so far.
    static func pause(
        afterProcessing error: RequestError, attempts: Int, _ task: RequestTask
    ) -> Duration? {
        guard !error.isCancellation, let request = task.builtRequest else { return nil }
        let deciders = [
            task.description.sending.retryDecider, task.configuration.retryDecider,
        ]
        let failed = FailedAttempt(
            description: task.description, request: request, error: error, attempt: attempts)
        for decider in deciders.compactMap(\.self) {
            switch decider(failed) {
            case .asPolicy: continue
            case .giveUp: return declined(.decider, task)
            case .again(let delay):
                guard attempts < limit(of: task) else {
                    return declined(.attemptsSpent, task)
                }
                guard request.body?.isConsumed != true else { return declined(.bodySpent, task) }
                return delay
            }
        }
        return nil
    }

    private static func declined(_ reason: RetryRefusal, _ task: RequestTask) -> Duration? {
        task.emit(.retryDeclined(reason))
        return nil
    }

    /// The maximum number of attempts that a decider can ask for.
    private static func limit(of task: RequestTask) -> Int {
        let policy = task.description.retryPolicy ?? task.configuration.retryPolicy
        let hasPolicy = policy.maximumAttempts > 1 || task.description.retryPolicy != nil
        return hasPolicy ? policy.maximumAttempts : RetryPolicy.deciderAttempts
    }

    private func decide(
        _ error: RequestError, policy: RetryPolicy, _ verdict: RetryVerdict,
        _ pipelineRequest: PipelineRequest
    ) -> RetryDecision {
        switch verdict {
        case .asPolicy: break
        case .giveUp: return .giveUp(.decider)
        case .again(let delay):
            guard Self.counted(pipelineRequest) < Self.limit(of: pipelineRequest.task) else {
                return .giveUp(.attemptsSpent)
            }
            guard pipelineRequest.request.body?.isConsumed != true else {
                return .giveUp(.bodySpent)
            }
            return .again(after: delay)
        }
        guard policy.maximumAttempts > 1 else { return .giveUp(.attemptsSpent) }
        return RetryDecision.decide(
            policy: policy, request: pipelineRequest.request, error: error,
            attempt: Self.counted(pipelineRequest),
            now: pipelineRequest.task.clock.now, random: Double.random(in: 0..<1))
    }

    /// Waits for the delay, and then for a network if the policy says so.
    private func wait(
        _ delay: Duration, after failure: RequestError, _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) {
        let isLong = delay > .zero || ConnectivityCheck.isEnabled(pipelineRequest.task)
        do {
            try await pipelineRequest.pausing(isLong) { () throws(RequestError) in
                try await pipelineRequest.sleep(for: delay)
                try await ConnectivityCheck.pass(pipelineRequest)
            }
        } catch {
            var error = Self.following(failure, error)
            error.attempts = pipelineRequest.attempt
            error.underlying = failure
            throw error
        }
    }

    /// Runs one attempt with its timeout, which counts only the time of transfers.
    private func withinLimit(
        _ pipelineRequest: PipelineRequest, _ next: Next
    ) async throws(RequestError) -> Response {
        guard let limit = Self.policy(of: pipelineRequest).attemptTimeout else {
            return try await next(pipelineRequest)
        }
        let result = await pipelineRequest.scope.withChild { scope in
            var limited = pipelineRequest
            limited.scope = scope
            limited.limit = AttemptLimit(
                limit, clock: pipelineRequest.task.clock, scope: scope,
                of: pipelineRequest.task)
            do throws(RequestError) {
                return Result<Response, RequestError>.success(try await next(limited))
            } catch {
                return .failure(
                    error.isCancellation && scope.reason == .tooLate
                        ? Self.attemptTimedOut(limit) : error)
            }
        }
        return try result.get()
    }

    private static func attemptTimedOut(_ limit: Duration) -> RequestError {
        RequestError(
            .timedOut, stage: .transport,
            "The attempt's transfer took longer than \(limit). Raise retryPolicy.attemptTimeout, or set nil.",
            timeout: .attempt)
    }

    private func checkCircuit(_ pipelineRequest: PipelineRequest) throws(RequestError) {
        guard let policy = pipelineRequest.configuration.circuitBreaker else { return }
        let host = Self.host(of: pipelineRequest)
        let (decision, state) = hostHealth.request(
            policy, host: host, now: pipelineRequest.task.clock.uptime)
        if let state { pipelineRequest.task.emit(.circuitChanged(host: host, state)) }
        switch decision {
        case .pass: return
        case .refuse(let pause):
            throw Self.refusal(
                "nothing is sent for another \(Self.seconds(pause))", host, pipelineRequest)
        case .refuseDuringProbe(let pause):
            throw Self.refusal(
                "another request probes the host, and the next may in at most \(Self.seconds(pause))",
                host, pipelineRequest)
        }
    }

    /// A duration in whole seconds, rounded up.
    private static func seconds(_ pause: Duration) -> String {
        let seconds = pause.components.seconds &+ (pause.components.attoseconds > 0 ? 1 : 0)
        return "\(seconds) s"
    }

    private static func refusal(
        _ reason: String, _ host: String, _ pipelineRequest: PipelineRequest
    ) -> RequestError {
        RequestError(
            .circuitOpen, stage: .schedule,
            "Too many requests to \(host) failed: \(reason). Try again then; "
                + "configuration.circuitBreaker sets the pause.",
            attempts: pipelineRequest.attempt - 1)
    }

    private func updateCircuit(_ pipelineRequest: PipelineRequest, _ error: RequestError?) {
        guard let policy = pipelineRequest.configuration.circuitBreaker else { return }
        let host = Self.host(of: pipelineRequest)
        let state = hostHealth.ended(
            CircuitBreaker.Outcome(error), policy, host: host,
            now: pipelineRequest.task.clock.uptime)
        if let state { pipelineRequest.task.emit(.circuitChanged(host: host, state)) }
    }
}
