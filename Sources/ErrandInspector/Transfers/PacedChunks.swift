import ErrandHTTP
import ErrandSystem
import ErrandTransport
import Synchronization

/// The bytes of a request's body, in small chunks at a limited speed.
struct PacedChunks: AsyncSequence, Sendable {
    let source: any BodySource
    let pace: TransferPace

    func makeAsyncIterator() -> Iterator { Iterator(source: source, pace: pace) }

    struct Iterator: AsyncIteratorProtocol {
        let source: any BodySource
        let pace: TransferPace

        func next() async throws -> Data? {
            var chunk = Data(count: pace.chunkSize)
            while true {
                switch chunk.withUnsafeMutableBytes({ source.read(into: $0) }) {
                case .bytes(let count):
                    try await pace.send(count)
                    return chunk.prefix(count)
                case .end:
                    source.close()
                    return nil
                case .wait: try await untilReadable()
                case .failed(let error): throw error
                }
            }
        }

        private func untilReadable() async throws {
            let signal = Signal()
            await withTaskCancellationHandler {
                source.whenReadable { signal.send() }
                await signal.wait()
            } onCancel: {
                signal.send()
            }
            try Task.checkCancellation()
        }
    }

    /// Resumes one waiting task, also if it is sent before the wait.
    private final class Signal: Sendable {
        private enum State: Sendable {
            case initial, sent
            case waiting(CheckedContinuation<Void, Never>)
        }

        private let state = Mutex(State.initial)

        func send() {
            let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
                defer { state = .sent }
                if case .waiting(let waiter) = state { return waiter }
                return nil
            }
            waiter?.resume()
        }

        func wait() async {
            await withCheckedContinuation { continuation in
                let isSent = state.withLock { state in
                    if case .sent = state { return true }
                    state = .waiting(continuation)
                    return false
                }
                if isSent { continuation.resume() }
            }
        }
    }
}

extension HTTPBody {
    /// The body as a stream whose bytes are read at a limited speed.
    func paced(by pace: TransferPace) -> HTTPBody {
        let original = self
        var body = HTTPBody.stream(
            length: lengthToSend, contentType: contentType, isReplayable: isReplayable
        ) { PacedChunks(source: try original.makeContentSource(), pace: pace) }
        body.trailerSource = trailerSource
        return body
    }
}
