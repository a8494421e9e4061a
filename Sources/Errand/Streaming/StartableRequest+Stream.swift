public import Dispatch
import ErrandCore
public import Foundation

extension StartableRequest {
    /// Sends the request and returns its response as soon as the head is validated; the body is read from the result.
    ///
    ///     let stream = try await Tail().stream()
    ///     for try await line in stream.lines { print(line) }
    ///
    /// Redirects, credentials, retries, cookies, status and content type are done when this returns. The error of a
    /// refused response contains its body. With ``AcceptableContentTypes/automatic``, every content type is accepted.
    ///
    /// Hooks, delegate and accessories are notified as by ``send(onStart:)``: of the start, and of the end when this
    /// method returns, since the object is then free. Events, progress, limits and `agent.activity` last until the end of
    /// the body.
    ///
    /// Settings that need the complete body are refused with ``RequestError/Code/invalidCombination`` before anything is
    /// sent: `validator`, `acceptance.rules`, `responseProcessors`, `json.removesNulls`, a format with a closure,
    /// `configuration.responseProcessors`, the duplicate policy `.join`, and downloads. A typed endpoint decodes no output.
    /// Streams are not members of batches, chains and graphs.
    ///
    /// The body of the request, for example from an async sequence, is sent while the response is read.
    /// `URLSessionTransport` refuses a body of unknown length with ``RequestError/Code/unsupported`` before anything is
    /// sent, because it copies such a body first.
    ///
    /// Cancelling the calling Swift task cancels the request. A stored response is streamed from the store. A streamed
    /// response is stored when its body has arrived completely, if it is not larger than
    /// `transportOptions.maximumBytesInMemory` or the store's ``ResponseStore/maximumBytesInParts``.
    ///
    /// - Parameter onStart: Called with the task before anything is sent. Default: does nothing.
    /// - Throws: ``RequestError``.
    nonisolated(nonsending) public func stream(
        onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> ResponseStream {
        try await openStream(on: nil, onStart)
    }

    /// Sends the request for an event stream, and returns its server-sent events (HTML standard, §9.2).
    ///
    ///     for try await event in try await Notifications().serverSentEvents() {
    ///         print(event.type, event.data)
    ///     }
    ///
    /// Like ``stream(onStart:)`` and ``ResponseStream/serverSentEvents(reconnects:maximumEventBytes:)``, but the first
    /// request, too, has `Accept: text/event-stream` and `Cache-Control: no-store`, unless the endpoint sets these fields.
    ///
    /// - Parameters:
    ///   - reconnects: Whether to reconnect. Default ``ResponseStream/Reconnects/automatic``.
    ///   - maximumEventBytes: The maximum size of the data of an event (default 1 MiB).
    ///   - agent: The agent that performs the requests. Default `nil`: that of the endpoint.
    ///   - onStart: Called with the task of the first request before anything is sent. Default: does nothing.
    /// - Throws: ``RequestError``.
    nonisolated(nonsending) public func serverSentEvents(
        reconnects: ResponseStream.Reconnects = .automatic, maximumEventBytes: Int = 1 << 20,
        on agent: RequestAgent? = nil, onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> ResponseStream.ServerSentEvents {
        try await openStream(on: agent, onStart) { $0.acceptEvents() }
            .serverSentEvents(reconnects: reconnects, maximumEventBytes: maximumEventBytes)
    }

    nonisolated(nonsending) func openStream(
        on named: RequestAgent?, _ onStart: (RequestTask) -> Void,
        _ change: (inout RequestDescription) -> Void = {
            if $0.acceptsOnlyEvents { $0.acceptEvents() }
        }
    ) async throws(RequestError) -> ResponseStream {
        let run = enlist(on: named) {
            $0.beStreamed()
            change(&$0)
        }
        onStart(run.task)
        do throws(RequestError) {
            let opened = try await run.agent.open(run.task)
            end(TaskOutcome(result: .success(opened.response)), of: run) { _ in }
            return ResponseStream(opened, run)
        } catch {
            end(TaskOutcome(result: .failure(error)), of: run) { _ in }
            throw error
        }
    }

    /// Starts the request and calls closures on the main actor: with the head, with each chunk of the body, and once with
    /// the end.
    ///
    /// The transfer waits for each closure to return. Otherwise like ``stream(onStart:)``, but hooks, delegate and
    /// accessories are notified of the end of the body.
    ///
    /// - Parameters:
    ///   - owner: Cancels the request when it is deallocated; held weakly. Default `nil`: none.
    ///   - onHead: Called with the validated head; its body is empty.
    ///   - onChunk: Called with bytes of the body, after content decoding.
    ///   - completion: Called after every end: with the head, trailers and timings, or with the error.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        onHead: @escaping @MainActor (Self, Response) -> Void = { _, _ in },
        onChunk: @escaping @MainActor (Self, Data) -> Void,
        completion: @escaping @MainActor (Self, Result<Response, RequestError>) -> Void
    ) -> RequestTask {
        launchStream(
            on: nil, owner: owner,
            StreamClosures(
                onHead: { onHead(self, $0) }, onChunk: { onChunk(self, $0) },
                completion: { completion(self, $0) }))
    }

    /// Starts the request from any context and calls closures on a queue: with the head, with each chunk of the body,
    /// and once with the end.
    ///
    /// The transfer waits for each closure to return. The request object stays with its actor: hooks, accessories and
    /// delegate are not called, and ``BaseRequest/response`` is not set.
    ///
    /// - Parameters:
    ///   - queue: The queue of the closures.
    ///   - onHead: Called with the validated head; its body is empty.
    ///   - onChunk: Called with bytes of the body, after content decoding.
    ///   - completion: Called after every end: with the head, trailers and timings, or with the error.
    @discardableResult
    nonisolated public func start(
        on queue: DispatchQueue, onHead: @escaping @Sendable (Response) -> Void = { _ in },
        onChunk: @escaping @Sendable (Data) -> Void,
        completion: @escaping @Sendable (Result<Response, RequestError>) -> Void
    ) -> RequestTask {
        dispatchStream(on: nil, queue, onHead: onHead, onChunk: onChunk, completion: completion)
    }

    /// Starts the request as a stream on the main actor.
    @MainActor
    func launchStream(
        on named: RequestAgent?, owner: RequestOwner?, _ closures: StreamClosures
    ) -> RequestTask {
        let run = enlist(on: named) { $0.beStreamed() }
        let relays = RunRelays(of: run, self, owner: owner)
        Task { @MainActor in
            await run.deliver(onHead: closures.onHead, onChunk: closures.onChunk)
            let outcome = await run.task.outcome()
            relays.end(run, of: self, outcome) { _ in closures.completion(outcome.result) }
        }
        return run.task
    }

    nonisolated func dispatchStream(
        on named: RequestAgent?, _ queue: DispatchQueue,
        onHead: @escaping @Sendable (Response) -> Void,
        onChunk: @escaping @Sendable (Data) -> Void,
        completion: @escaping @Sendable (Result<Response, RequestError>) -> Void
    ) -> RequestTask {
        var description = makeDescription()
        description.beStreamed()
        let agent = agent(atCall: named)
        let run = RequestRun(task: agent.enlist(description), agent: agent)
        Task {
            await run.deliver { head in
                await queue.run { onHead(head) }
            } onChunk: { chunk in
                await queue.run { onChunk(chunk) }
            }
            let result = await run.task.outcome().result
            queue.async { completion(result) }
        }
        return run.task
    }
}

/// The closures of a stream that is delivered on the main actor.
@MainActor
struct StreamClosures {
    let onHead: @MainActor (Response) -> Void
    let onChunk: @MainActor (Data) -> Void
    let completion: @MainActor (Result<Response, RequestError>) -> Void
}

extension RequestRun {
    /// Passes head and chunks of a streamed request to closures; returns at the end of the body.
    nonisolated(nonsending) func deliver(
        onHead: (Response) async -> Void, onChunk: (Data) async -> Void
    ) async {
        // The error is also the outcome of the task.
        guard let opened = try? await agent.open(task) else { return }
        let stream = ResponseStream(opened, self)
        // The task may have been cancelled before the actor of the closures was free.
        if !task.context.scope.isCancelled { await onHead(stream.response) }
        let reader = StreamReader(stream.source)
        while let chunk = try? await reader.next(), !task.isStopping { await onChunk(chunk) }
    }
}

extension RequestDescription {
    /// The description of a streamed request: it has no typed output.
    mutating func beStreamed() {
        isStreamed = true
        decode = nil
    }
}

extension DispatchQueue {
    /// Runs a closure on the queue and waits for it.
    nonisolated fileprivate func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            async {
                body()
                continuation.resume()
            }
        }
    }
}
