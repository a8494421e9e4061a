import HTTPTypes
import Synchronization

/// A body source that ends after the trailers of its body are known.
///
/// It shows the bytes to the producer of the trailers, and reports its end when the producer has
/// returned the fields. A transport therefore needs no wait of its own for them.
final class TrailingBodySource: BodySource {
    fileprivate enum Phase {
        case content
        case producing(Task<Void, Never>)
        case complete(HTTPFields)
        case failed(RequestError)
    }

    private struct State {
        var phase = Phase.content
        var producer: any TrailerProducer
        /// The number of the run through the body; the trailers of an earlier run are ignored.
        var run = 0
        var reader: (@Sendable () -> Void)?
    }

    private let content: any BodySource
    private let source: TrailerSource
    private let state: Mutex<State>

    init(_ content: any BodySource, _ source: TrailerSource) {
        self.content = content
        self.source = source
        state = Mutex(State(producer: source.makeProducer()))
    }

    deinit { close() }

    var length: Int64? { content.length }

    var trailers: HTTPFields {
        state.withLock { state in
            if case .complete(let fields) = state.phase { fields } else { [:] }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let (outcome, producer, run) = state.withLock { ($0.phase.outcome, $0.producer, $0.run) }
        if let outcome { return outcome }
        let result = content.read(into: buffer)
        switch result {
        case .bytes(let count):
            producer.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return result
        case .end:
            produce(with: producer, run)
            return .wait
        case .wait, .failed: return result
        }
    }

    func whenReadable(_ notify: @escaping @Sendable () -> Void) {
        let isReadable: Bool? = state.withLock { state in
            switch state.phase {
            case .content: return nil
            case .complete, .failed: return true
            case .producing:
                state.reader = notify
                return false
            }
        }
        guard let isReadable else { return content.whenReadable(notify) }
        if isReadable { notify() }
    }

    func rewind() -> Bool {
        guard content.rewind() else { return false }
        let producer = source.makeProducer()
        let task = state.withLock { state in
            let task = state.phase.task
            state.phase = .content
            state.producer = producer
            state.run += 1
            state.reader = nil
            return task
        }
        task?.cancel()
        return true
    }

    func close() {
        let task = state.withLock { state in
            let task = state.phase.task
            state.run += 1
            state.reader = nil
            state.phase = .failed(
                RequestError(.bodyReadFailed, stage: .transport, "The body was closed."))
            return task
        }
        task?.cancel()
        content.close()
    }

    private func produce(with producer: any TrailerProducer, _ run: Int) {
        state.withLock { state in
            guard state.run == run, case .content = state.phase else { return }
            // The task takes this lock only when it runs, which is after this closure.
            let task = Task { [source, weak self] in
                let result: Phase
                do throws(RequestError) {
                    result = .complete(try await source.fields(producer))
                } catch {
                    result = .failed(error)
                }
                self?.finish(result, run)
            }
            state.phase = .producing(task)
        }
    }

    private func finish(_ result: Phase, _ run: Int) {
        let reader = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.run == run else { return nil }
            state.phase = result
            defer { state.reader = nil }
            return state.reader
        }
        reader?()
    }
}

extension TrailingBodySource.Phase {
    /// The result of a read that does not depend on the content; `nil` if it does.
    fileprivate var outcome: BodyRead? {
        switch self {
        case .content: nil
        case .producing: .wait
        case .complete: .end
        case .failed(let error): .failed(error)
        }
    }

    fileprivate var task: Task<Void, Never>? {
        if case .producing(let task) = self { task } else { nil }
    }
}
