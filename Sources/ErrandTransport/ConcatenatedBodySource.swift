import Synchronization

/// Several body sources, read one after another; each is opened when the previous one has ended.
///
/// The length of a file is taken when the segments are created. If the file has another length when
/// it is opened, the body fails.
package final class ConcatenatedBodySource: BodySource {
    /// One of the bodies: its length and a closure that opens it.
    package struct Segment: Sendable {
        package let length: Int64?
        package let make: @Sendable () throws(RequestError) -> any BodySource

        package init(
            length: Int64?, make: @escaping @Sendable () throws(RequestError) -> any BodySource
        ) {
            self.length = length
            self.make = make
        }
    }

    private enum Position {
        case before(Int)
        case inside(Int, any BodySource)
        case closed
    }

    private let segments: [Segment]
    package let length: Int64?
    private let position = Mutex(Position.before(0))

    package init(_ segments: [Segment]) {
        self.segments = segments
        length = segments.reduce(Int64?(0)) { sum, segment in
            guard let sum, let length = segment.length else { return nil }
            let (total, overflows) = sum.addingReportingOverflow(length)
            return overflows ? nil : total
        }
    }

    deinit { close() }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        // Small bodies share a buffer: a transport may send one packet for each read.
        var filled = 0
        while filled < buffer.count {
            let result: BodyRead
            switch current() {
            case .failure(let error): result = .failed(error)
            case .success(nil): result = .end
            case .success(let source?):
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                result = source.read(into: rest)
                if case .end = result {
                    advance(past: source)
                    continue
                }
            }
            guard case .bytes(let count) = result else {
                // The next call returns this end, failure or wait again.
                return filled > 0 ? .bytes(filled) : result
            }
            filled += count
        }
        return filled > 0 ? .bytes(filled) : .wait
    }

    package func whenReadable(_ notify: @escaping @Sendable () -> Void) {
        if case .success(let source?) = current() {
            source.whenReadable(notify)
        } else {
            notify()
        }
    }

    package func rewind() -> Bool {
        let (old, canRewind) = position.withLock { position in
            if case .closed = position { return ((any BodySource)?.none, false) }
            defer { position = .before(0) }
            if case .inside(_, let source) = position { return (source, true) }
            return (nil, true)
        }
        old?.close()
        return canRewind
    }

    package func close() {
        let old: (any BodySource)? = position.withLock { position in
            defer { position = .closed }
            if case .inside(_, let source) = position { return source }
            return nil
        }
        old?.close()
    }

    /// The current source, opened if necessary; `nil` after the last.
    private func current() -> Result<(any BodySource)?, RequestError> {
        // A source may be opened under the lock, because opening calls no user code.
        position.withLock { position in
            switch position {
            case .closed:
                return .failure(
                    RequestError(.bodyReadFailed, stage: .transport, "The body was closed."))
            case .inside(_, let source):
                return .success(source)
            case .before(let index):
                guard index < segments.count else { return .success(nil) }
                do throws(RequestError) {
                    let source = try segments[index].make()
                    position = .inside(index, source)
                    return .success(source)
                } catch {
                    return .failure(error)
                }
            }
        }
    }

    private func advance(past source: any BodySource) {
        position.withLock { position in
            if case .inside(let index, let current) = position, current === source {
                position = .before(index + 1)
            }
        }
        source.close()
    }
}
