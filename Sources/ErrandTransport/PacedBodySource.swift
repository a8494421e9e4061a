import ErrandHTTP
import HTTPTypes
import Synchronization

/// A body source that is read no faster than a bandwidth limit allows.
///
/// Bytes are counted before they are read: the limit grants up to an eighth of a second at a time.
final class PacedBodySource: BodySource {
    private struct State {
        /// The number of bytes that may be read.
        var granted = 0
        var read: Int64 = 0
        var wait: UInt64?
        var isWaiting = false
        var reader: (@Sendable () -> Void)?
        /// The number of the run through the body; the waits of an earlier run are ignored.
        var run = 0
    }

    private static let maximumGrant = 64 << 10

    private let inner: any BodySource
    private let limit: BandwidthLane
    private let state = Mutex(State())

    init(_ inner: any BodySource, _ limit: BandwidthLane) {
        self.inner = inner
        self.limit = limit
    }

    var length: Int64? { inner.length }
    var trailers: HTTPFields { inner.trailers }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let read = state.withLock { $0.read }
        // The end needs no bytes.
        if let length, read >= length { return inner.read(into: buffer) }
        guard let limit = limit.bytesPerSecond else { return counted(inner.read(into: buffer)) }
        do throws(RequestError) {
            try self.limit.check()
        } catch { return .failed(error) }
        if state.withLock({ $0.granted == 0 }) {
            let rest = length.map { $0 - read } ?? .max
            ask(for: Int(min(max(1, limit / 8), Int64(Self.maximumGrant), rest)))
        }
        let granted = state.withLock { $0.isWaiting ? 0 : $0.granted }
        guard granted > 0 else { return .wait }
        let slice = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(granted))
        return counted(inner.read(into: slice))
    }

    private func counted(_ result: BodyRead) -> BodyRead {
        if case .bytes(let count) = result {
            state.withLock { state in
                state.read += Int64(count)
                state.granted = max(0, state.granted - count)
            }
        }
        return result
    }

    private func ask(for bytes: Int) {
        let run = state.withLock { state -> Int? in
            guard !state.isWaiting else { return nil }
            state.isWaiting = true
            return state.run
        }
        guard let run else { return }
        let wait = limit.count(bytes) { [weak self] in self?.grant(bytes, run) }
        guard let wait else { return grant(bytes, run) }
        let isOver = state.withLock { state in
            if state.isWaiting, state.run == run { state.wait = wait }
            return state.run != run
        }
        // It was closed or rewound on another thread, before it could know the wait.
        if isOver { limit.forget(wait) }
    }

    private func grant(_ bytes: Int, _ run: Int) {
        let reader = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.run == run else { return nil }
            (state.isWaiting, state.wait) = (false, nil)
            state.granted = bytes
            return state.reader.take()
        }
        reader?()
    }

    func whenReadable(_ notify: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            if state.isWaiting { state.reader = notify }
            return state.isWaiting
        }
        if !waits { inner.whenReadable(notify) }
    }

    func rewind() -> Bool {
        guard inner.rewind() else { return false }
        reset()
        return true
    }

    func close() {
        reset()
        inner.close()
    }

    private func reset() {
        let wait = state.withLock { state in
            let wait = state.wait
            let run = state.run + 1
            state = State()
            state.run = run
            return wait
        }
        if let wait { limit.forget(wait) }
    }
}
