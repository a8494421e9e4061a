public import Dispatch
public import ErrandCore
public import Foundation

extension RequestAgent {
    /// Sends a request on this agent and returns its response as soon as the head is validated.
    ///
    /// Like ``StartableRequest/stream(onStart:)``.
    nonisolated(nonsending) public func stream(
        _ request: some StartableRequest, onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> ResponseStream {
        try await request.openStream(on: self, onStart)
    }

    /// Starts a request on this agent and calls closures on the main actor: with the head, with each chunk of the body,
    /// and once with the end.
    ///
    /// Like ``StartableRequest/start(owner:onHead:onChunk:completion:)``.
    @MainActor @discardableResult
    public func start<Endpoint: StartableRequest>(
        _ request: Endpoint, owner: RequestOwner? = nil,
        onHead: @escaping @MainActor (Endpoint, Response) -> Void = { _, _ in },
        onChunk: @escaping @MainActor (Endpoint, Data) -> Void,
        completion: @escaping @MainActor (Endpoint, Result<Response, RequestError>) -> Void
    ) -> RequestTask {
        request.launchStream(
            on: self, owner: owner,
            StreamClosures(
                onHead: { onHead(request, $0) }, onChunk: { onChunk(request, $0) },
                completion: { completion(request, $0) }))
    }

    /// Starts a request on this agent from any context and calls closures on a queue: with the head, with each chunk of
    /// the body, and once with the end.
    ///
    /// Like ``StartableRequest/start(on:onHead:onChunk:completion:)``.
    @discardableResult
    nonisolated public func start(
        _ request: some StartableRequest, on queue: DispatchQueue,
        onHead: @escaping @Sendable (Response) -> Void = { _ in },
        onChunk: @escaping @Sendable (Data) -> Void,
        completion: @escaping @Sendable (Result<Response, RequestError>) -> Void
    ) -> RequestTask {
        request.dispatchStream(
            on: self, queue, onHead: onHead, onChunk: onChunk, completion: completion)
    }
}
