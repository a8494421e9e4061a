import ErrandCore

extension RequestUnit {
    /// The requests of the member: itself, or those of a nested composite.
    nonisolated package var flattened: [BaseRequest] {
        if let request = self as? BaseRequest { return [request] }
        return (self as? any CompositeRun)?.visit { $0.requests } ?? []
    }

    /// The first request, if it is known before the run.
    nonisolated package var firstOfAll: BaseRequest? {
        if let request = self as? BaseRequest { return request }
        return (self as? any CompositeRun)?.visit { $0.firstRequest }
    }

    /// The request that failed in the last run of a member that failed.
    nonisolated package var failedOfAll: BaseRequest? {
        if let request = self as? BaseRequest { return request }
        return (self as? CompositeRequest)?.failedRequest
    }

    /// The results of the requests of an ended member.
    ///
    /// - Parameter result: The result of the member itself; `nil` if it has none.
    nonisolated func results(
        _ result: Result<Response?, RequestError>?
    ) -> [Result<Response, RequestError>] {
        if self is BaseRequest {
            switch result {
            case .success(let response?): return [.success(response)]
            case .failure(let error): return [.failure(error)]
            case .success(nil), nil: return [.failure(.cancelled)]
            }
        }
        return flattened.map { request in
            if let error = request.error { return .failure(error) }
            return request.response.map { .success($0) } ?? .failure(.cancelled)
        }
    }
}

extension BaseRequest {
    /// The error of a member of a batch that was refused before it was described.
    nonisolated func notStarted(by agent: RequestAgent?) -> RequestError {
        self.agent(atCall: agent).notStarted(name)
    }
}

extension CompositeRun {
    /// Asks a composite about its members; `nil` if the question has come back to it, because it contains itself.
    nonisolated func visit<Answer>(_ question: (Self) -> Answer?) -> Answer? {
        guard !isVisited else { return nil }
        isVisited = true
        defer { isVisited = false }
        return question(self)
    }
}
