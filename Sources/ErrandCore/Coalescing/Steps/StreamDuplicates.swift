import ErrandTransport
import Synchronization

/// Applies the duplicate policy to streamed requests, whose transfers cannot be shared.
///
/// A streamed request counts as a duplicate only of other streamed requests, and until its stream ends.
final class StreamDuplicates: Sendable {
    /// The latest streamed request of each key that has not ended.
    private let latest = Mutex<[CoalescingKey: RequestTask]>([:])
    private let queue = Mutex<SerialRequestQueue<CoalescingKey>?>(nil)

    func run(
        _ pipelineRequest: PipelineRequest, _ key: CoalescingKey, _ next: Next
    ) async throws(RequestError) -> Response {
        let task = pipelineRequest.task
        switch pipelineRequest.description.sending.duplicates {
        // `.join` was refused when the request was described.
        case .allow, .join: return try await next(pipelineRequest)
        case .queue: return try await queued(pipelineRequest, key, next)
        case .reject:
            let isFirst = latest.withLock { latest in
                if latest[key] == nil { latest[key] = task }
                return latest[key] === task
            }
            guard isFirst else { throw CoalesceStep.duplicate(pipelineRequest) }
        case .cancelPrevious:
            let previous = latest.withLock { $0.updateValue(task, forKey: key) }
            if previous !== task { previous?.scope.cancel() }
        }
        return try await Self.untilEnd(of: pipelineRequest, next) { [self] in
            let ended = latest.withLock { latest in
                latest[key] === task ? latest.removeValue(forKey: key) : nil
            }
            withExtendedLifetime(ended) {}
        }
    }

    /// Waits until earlier requests with the same key have ended.
    private func queued(
        _ pipelineRequest: PipelineRequest, _ key: CoalescingKey, _ next: Next
    ) async throws(RequestError) -> Response {
        let task = pipelineRequest.task
        let startedAt = task.clock.uptime
        let queue = queue.withLock { $0.whenNeeded() }
        var waited = false
        let ticket = TaskID.ticket(of: task.id)
        let isAdmitted = await queue.enter(key, ticket: ticket, pipelineRequest.scope) {
            waited = true
            task.emit(.queued)
        }
        guard isAdmitted else { throw .cancelled }
        if waited { task.emit(.dequeued(after: task.clock.uptime - startedAt)) }
        return try await Self.untilEnd(of: pipelineRequest, next) { queue.leave(key) }
    }

    private static func untilEnd(
        of pipelineRequest: PipelineRequest, _ next: Next, _ leave: @escaping @Sendable () -> Void
    ) async throws(RequestError) -> Response {
        do {
            try pipelineRequest.scope.check()
            let response = try await next(pipelineRequest)
            response.whenEnded(leave)
            return response
        } catch {
            leave()
            throw error
        }
    }
}
