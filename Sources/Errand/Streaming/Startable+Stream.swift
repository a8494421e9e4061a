public import ErrandCore
public import ErrandSystem

extension Startable where Self: BaseRequest {
    /// Sends the request and returns its response as soon as the head is validated; the body is read from the result.
    ///
    ///     let stream = try await Tail().stream()
    ///     for try await line in stream.lines { print(line) }
    ///
    /// Redirects, credentials, retries, cookies, status and content type are done when this returns. The error of a
    /// refused response contains its body. Without `acceptance.contentTypes`, every content type is accepted.
    ///
    /// Hooks, delegate and accessories are notified as by ``Startable/send(on:onStart:)``: of the start, and of the end when this
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
    /// - Parameters:
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - onStart: Called with the task before anything is sent. Default: does nothing.
    /// - Throws: ``RequestError``.
    nonisolated(nonsending) public func stream(
        on agent: RequestAgent? = nil, onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> ResponseStream {
        try await openStream(on: agent, onStart)
    }

    /// Sends the request for an event stream, and returns its server-sent events (HTML standard, §9.2).
    ///
    ///     for try await event in try await Notifications().serverSentEvents() {
    ///         print(event.type, event.data)
    ///     }
    ///
    /// Like ``stream(on:onStart:)`` and ``ResponseStream/serverSentEvents(reconnects:maximumEventBytes:)``, but the first
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
        let run = enlist(on: named) { description, _ in
            description.beStreamed()
            change(&description)
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

    /// Starts it and reads the body with closures on the main actor; the transfer waits for each of them.
    ///
    /// ``BaseRequest/response`` is the validated head, without a body, when the first chunk comes. After the end, it has
    /// trailers and timings. Otherwise like ``stream(on:onStart:)``, but hooks, delegate and accessories are notified of the
    /// end of the body.
    ///
    /// - Parameters:
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - owner: Cancels the run when it is deallocated; held weakly. Default `nil`: none.
    ///   - onChunk: Called with bytes of the body, after content decoding.
    ///   - success: Called at the end of the body.
    ///   - failure: Called after a failure or a cancellation.
    @MainActor @discardableResult
    public func stream(
        on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        onChunk: @escaping @MainActor (Self, Data) -> Void,
        success: @escaping @MainActor (Self) -> Void,
        failure: @escaping @MainActor (Self, RequestError) -> Void
    ) -> RequestTask {
        let run = enlist(on: agent) { description, _ in description.beStreamed() }
        let relays = RunRelays(of: run, self, owner: owner)
        Task { @MainActor in
            await run.deliver { head in
                take(TaskOutcome(result: .success(head)))
            } onChunk: { chunk in
                onChunk(self, chunk)
            }
            let outcome = await run.task.outcome()
            relays.end(run, of: self, outcome) { error in
                if let error { failure(self, error) } else { success(self) }
            }
        }
        return run.task
    }
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
        if !task.scope.isCancelled { await onHead(stream.response) }
        let reader = StreamReader(stream.source)
        while let chunk = try? await reader.next(), !task.scope.isCancelled {
            await onChunk(chunk)
        }
    }
}

extension RequestDescription {
    /// The description of a streamed request: it has no typed output.
    mutating func beStreamed() {
        isStreamed = true
        decode = nil
    }
}
