package import ErrandSystem

/// The buffer between a stream of chunks and the transport that reads it: a pure state machine.
///
/// If a length is declared, the last byte is held back until the stream has ended. A transport
/// stops reading when it has read the declared length, so a stream that is too long would otherwise
/// not be detected.
package struct StreamBuffer {
    private let declaredLength: Int64?
    private let capacity: Int
    private var chunks: ArraySlice<Data> = []
    private var buffered = 0
    private var received: Int64 = 0
    private var delivered: Int64 = 0
    private var hasEnded = false
    private var failure: RequestError?

    package init(declaredLength: Int64?, capacity: Int) {
        self.declaredLength = declaredLength
        self.capacity = max(1, capacity)
    }

    /// Whether the buffer has room for more chunks.
    package var wantsMore: Bool { failure == nil && !hasEnded && buffered < capacity }

    /// Whether the stream has failed.
    package var hasFailed: Bool { failure != nil }

    /// Whether a read returns anything other than ``BodyRead/wait``.
    package var isReadable: Bool { failure != nil || hasEnded || available > 0 }

    /// Adds a chunk of the stream.
    package mutating func append(_ chunk: Data) {
        guard failure == nil, !hasEnded, !chunk.isEmpty else { return }
        received += Int64(chunk.count)
        if let declaredLength, received > declaredLength {
            fail(Self.wrongLength("more than the \(declaredLength)"))
            return
        }
        chunks.append(chunk)
        buffered += chunk.count
    }

    /// Marks the end of the stream.
    package mutating func finish() {
        guard failure == nil, !hasEnded else { return }
        if let declaredLength, received < declaredLength {
            fail(Self.wrongLength("\(received) of the \(declaredLength)"))
            return
        }
        hasEnded = true
    }

    /// Marks the stream as failed and drops the buffered bytes.
    ///
    /// Only the first failure counts.
    package mutating func fail(_ error: RequestError) {
        guard failure == nil, !hasEnded else { return }
        failure = error
        chunks = []
        buffered = 0
    }

    /// Moves bytes from the buffer to the reader.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        if let failure { return .failed(failure) }
        if hasEnded && buffered == 0 { return .end }
        let wanted = min(available, buffer.count)
        guard wanted > 0 else { return .wait }
        var filled = 0
        while filled < wanted, let chunk = chunks.first {
            let count = min(chunk.count, wanted - filled)
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + count])
            chunk.copyBytes(to: target, from: chunk.startIndex..<chunk.startIndex + count)
            filled += count
            chunks.removeFirst()
            if count < chunk.count { chunks.insert(chunk.dropFirst(count), at: chunks.startIndex) }
        }
        buffered -= filled
        delivered += Int64(filled)
        return .bytes(filled)
    }

    /// The number of bytes that may be read now.
    private var available: Int {
        guard let declaredLength, !hasEnded else { return buffered }
        return delivered + Int64(buffered) == declaredLength ? max(0, buffered - 1) : buffered
    }

    private static func wrongLength(_ found: String) -> RequestError {
        RequestError(
            .bodyReadFailed, stage: .transport,
            "The body's stream produced \(found) bytes that were declared. "
                + "Declare the correct length, or none.")
    }
}
