import ErrandTransport

/// Delivers a stored response, if there is one, before the later steps send the request.
///
/// The step runs outside coalescing, because requests that share a transfer each get the stored response, and inside
/// the interceptors, which run once: they get the response of the network, or the stored one if the network fails.
/// ``StoredThenLoaded`` decides about deliveries and the end.
package final class StoredThenLoadStep: OptionalStep {
    private let cache: CacheStep

    init(cache: CacheStep) { self.cache = cache }

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        pipelineRequest.task.deliversStored
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        var course = StoredThenLoaded()
        let found = try await stored(pipelineRequest)
        let stored = found?.stored
        if course.handle(found == nil ? .missed : .stored) == .deliverStored, let found {
            pipelineRequest.task.deliverStored(found.outcome)
        }
        let result: Result<Response, RequestError>
        do throws(RequestError) {
            let loaded = try await next(pipelineRequest)
            // The cache has replaced a failure by the stored response.
            if let error = loaded.loadError {
                result = .failure(error)
            } else {
                result = .success(loaded)
            }
        } catch {
            result = .failure(error)
        }
        switch course.handle(Self.event(of: result, stored)) {
        case .end(.loaded(let isRepeated)):
            if isRepeated { pipelineRequest.task.markStoredAsRepeated() }
        case .end(.storedRemains):
            guard let stored, case .failure(var error) = result else { break }
            error.name(pipelineRequest.request, of: pipelineRequest.task)
            pipelineRequest.task.emit(.storedResponseKept(error))
            pipelineRequest.task.markStoredAsRepeated()
            return stored.used(after: error)
        case .end, .none, .deliverStored: break
        }
        return try result.get()
    }

    /// The stored response, after the processors and the decoder have accepted it; `nil` if there is none.
    private func stored(
        _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> (stored: Response, outcome: TaskOutcome)? {
        do throws(RequestError) {
            let stored = try await cache.lookUp(pipelineRequest)
            let refined = try await ProcessStep.refine(stored, of: pipelineRequest)
            return (
                stored, TaskOutcome(result: .success(refined.response), output: refined.output)
            )
        } catch {
            // Without a usable stored response the network decides, as with the other policies.
            if pipelineRequest.scope.isCancelled || error.isCancellation { throw error }
            return nil
        }
    }

    private static func event(
        of result: Result<Response, RequestError>, _ stored: Response?
    ) -> StoredThenLoaded.Event {
        switch result {
        case .success(let loaded):
            return .loaded(
                isChanged: stored.map { StoredThenLoaded.isChanged(loaded, from: $0) } ?? true)
        case .failure(let error):
            return error.isCancellation || error.code == .agentShutDown ? .cancelled : .failed
        }
    }
}

extension RequestTask {
    /// Whether a stored response is delivered before the network's.
    package var deliversStored: Bool {
        (description.ownCachePolicy ?? configuration.cachePolicy).deliversStored
            && !description.isStreamed
    }
}

extension RequestDescription {
    /// The error of a request that cannot deliver two responses; `nil` if its policy delivers one.
    ///
    /// - Parameters:
    ///   - shared: The policy of the configuration.
    ///   - part: The kind of request, such as "a member of a batch".
    package func refusalOfTwoResponses(_ shared: CachePolicy, part: String) -> RequestError? {
        let policy = ownCachePolicy ?? shared
        guard policy.deliversStored else { return nil }
        return RequestError(
            .invalidCombination, stage: .build,
            "\(endpoint) is \(part) with the cache policy .\(policy), which delivers two responses. Set "
                + "cache.policy, for example with .\(policy == .httpThenLoad ? "http" : "cacheElseLoad")."
        )
    }
}
