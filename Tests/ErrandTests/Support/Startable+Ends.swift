import Dispatch
import Errand

extension Startable {
    /// Starts it on the main actor, waits for the closure of its end, and returns its result.
    @MainActor
    func ended(
        on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        onStart: (RequestTask) -> Void = { _ in }
    ) async -> Result<SendOutput, RequestError> {
        await withCheckedContinuation { continuation in
            let task = start(
                on: agent, owner: owner,
                finished: { unit in
                    continuation.resume(returning: unit.result ?? .failure(.cancelled))
                })
            onStart(task)
        }
    }

    /// Gives it up to a queue, waits for one of its closures, and returns its result.
    static func endedOnQueue(
        _ unit: sending Self, on agent: RequestAgent? = nil, queue: DispatchQueue = .global(),
        onStart: (RequestTask) -> Void = { _ in }
    ) async -> Result<SendOutput, RequestError> {
        nonisolated(unsafe) let unit = unit
        return await withCheckedContinuation { continuation in
            let task = start(unit, on: agent, queue: queue) { unit in
                continuation.resume(returning: unit.result ?? .failure(.cancelled))
            } failure: { _, error in
                continuation.resume(returning: .failure(error))
            }
            onStart(task)
        }
    }
}

extension TypedUnit {
    /// Starts it on the main actor with a closure for each end, and returns what they get.
    @MainActor
    func endedWithOutput(
        on agent: RequestAgent? = nil
    ) async -> Result<Output, RequestError> {
        await withCheckedContinuation { continuation in
            start(on: agent) { _, output in
                continuation.resume(returning: .success(output))
            } failure: { _, error in
                continuation.resume(returning: .failure(error))
            }
        }
    }

    /// Gives it up to a queue with a closure for each end, and returns what they get.
    static func outputOnQueue(
        _ unit: sending Self, on agent: RequestAgent? = nil, queue: DispatchQueue = .global()
    ) async -> Result<Output, RequestError> {
        nonisolated(unsafe) let unit = unit
        return await withCheckedContinuation { continuation in
            start(unit, on: agent, queue: queue) { _, output in
                continuation.resume(returning: .success(output))
            } failure: { _, error in
                continuation.resume(returning: .failure(error))
            }
        }
    }
}

extension Result {
    /// The error of a failure.
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
