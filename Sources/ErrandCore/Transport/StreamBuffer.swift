package import Foundation

/// The bytes between a stream of chunks and the transport that reads them: a pure state machine.
///
/// It holds back the last byte of a declared length until the stream has ended, because a transport that
/// got that many bytes asks for no more, and a stream that is too long would pass for one that fits.
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

    /// Whether the stream may bring more.
    package var wantsMore: Bool { failure == nil && !hasEnded && buffered < capacity }

    /// Whether nothing will come any more because something broke.
    package var hasFailed: Bool { failure != nil }

    /// Whether a read would bring anything but ``BodyRead/wait``.
    package var isReadable: Bool { failure != nil || hasEnded || available > 0 }

    /// The stream brought bytes.
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

    /// The stream ended by itself.
    package mutating func finish() {
        guard failure == nil, !hasEnded else { return }
        if let declaredLength, received < declaredLength {
            fail(Self.wrongLength("\(received) of the \(declaredLength)"))
            return
        }
        hasEnded = true
    }

    /// The stream broke: what it brought is dropped.
    ///
    /// The first failure counts.
    package mutating func fail(_ error: RequestError) {
        guard failure == nil, !hasEnded else { return }
        failure = error
        chunks = []
        buffered = 0
    }

    /// Moves bytes out.
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

    /// How many bytes may be handed out now.
    private var available: Int {
        guard let declaredLength, !hasEnded else { return buffered }
        return delivered + Int64(buffered) == declaredLength ? max(0, buffered - 1) : buffered
    }

    private static func wrongLength(_ found: String) -> RequestError {
        RequestError(
            .bodyReadFailed, stage: .transport,
            "The body's stream brought \(found) bytes that were declared. "
                + "Declare the true length, or none.")
    }
}
