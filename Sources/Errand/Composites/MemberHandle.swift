import ErrandCore

/// The task of a member in progress: of a request, a nested composite or a closure of a graph's node.
nonisolated enum MemberHandle: Sendable {
    case request(RequestTask)
    case composite(CompositeTask)
    case closure(ClosureTask)

    func cancel() {
        switch self {
        case .request(let task): task.cancel()
        case .composite(let task): task.cancel()
        case .closure(let task): task.cancel()
        }
    }

    func suspend() {
        switch self {
        case .request(let task): task.suspend()
        case .composite(let task): task.suspend()
        case .closure(let task): task.suspend()
        }
    }

    func resume() {
        switch self {
        case .request(let task): task.resume()
        case .composite(let task): task.resume()
        case .closure(let task): task.resume()
        }
    }

    /// The progress of the member.
    var progress: ProgressHub {
        switch self {
        case .request(let task): task.context.progress
        case .composite(let task): task.hub
        case .closure(let task): task.hub
        }
    }
}
