package import ErrandTransport
package import HTTPTypes

/// A request body that is being sent, checked against its announced length.
package struct Upload {
    /// The next result for libcurl.
    package enum Fill {
        case bytes(Int)
        case end
        /// The source has no bytes yet.
        case wait
        case failed(RequestError)
    }

    private let source: any BodySource
    private let announced: Int64?
    private var sent: Int64 = 0
    /// Whether the source has reported its end.
    private var hasEnded = false
    /// The last bytes of the body, kept until the source confirms that they are the last, or bytes that
    /// ``lookForEnd()`` has read.
    private var heldBack: [UInt8] = []

    /// Whether all bytes were passed on.
    package var isComplete: Bool { hasEnded && heldBack.isEmpty }

    /// Creates an upload from a source, whose `length` is announced in the request head.
    package init(_ source: any BodySource) {
        self.source = source
        announced = source.length
    }

    /// The announced number of bytes; `nil` if unknown.
    package var length: Int64? { announced }

    /// The trailers, complete after the end of the body.
    package var trailers: HTTPFields { source.trailers }

    /// The number of bytes passed to libcurl.
    package var bytesSent: Int64 { sent }

    /// Writes the next bytes into the buffer.
    package mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Fill {
        if !heldBack.isEmpty { return releaseHeldBack(into: buffer) }
        if hasEnded { return .end }
        guard buffer.count > 0 else { return .wait }
        let rest = announced.map { $0 - sent } ?? .max
        guard rest > 0 else { return confirmEnd() }
        let limit = Int(clamping: min(rest, Int64(buffer.count)))
        switch source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<limit])) {
        case .bytes(let count):
            guard count > 0, count <= limit else { return .failed(Self.invalidRead) }
            return handOut(count, of: buffer)
        case .end:
            if let announced, sent < announced { return .failed(tooShort(announced)) }
            hasEnded = true
            return .end
        case .wait:
            return .wait
        case .failed(let error):
            return .failed(error)
        }
    }

    /// Looks for the end of a body without room for its bytes; those of a body of unknown length that are read
    /// for it come first at the next ``fill(_:)``.
    package mutating func lookForEnd() -> Fill {
        if !heldBack.isEmpty { return .bytes(heldBack.count) }
        if hasEnded { return .end }
        // An announced length is reached or not; a body of length 0 may have trailers.
        if let announced { return sent < announced ? .bytes(0) : confirmEnd() }
        var bytes = [UInt8](repeating: 0, count: 1024)
        switch bytes.withUnsafeMutableBytes({ source.read(into: $0) }) {
        case .bytes(let count):
            guard (1...bytes.count).contains(count) else { return .failed(Self.invalidRead) }
            heldBack = Array(bytes[..<count])
            return .bytes(count)
        case .end:
            hasEnded = true
            return .end
        case .wait: return .wait
        case .failed(let error): return .failed(error)
        }
    }

    /// Registers a closure that is called once, on any thread, when the source has more bytes.
    package func whenReadable(_ notify: @escaping @Sendable () -> Void) {
        source.whenReadable(notify)
    }

    /// Restarts the body, for a request that is sent again; returns false if it cannot be read
    /// again.
    package mutating func rewind() -> Bool {
        // Nothing was read, so there is nothing to rewind.
        if sent == 0, !hasEnded, heldBack.isEmpty { return true }
        guard source.rewind() else { return false }
        sent = 0
        hasEnded = false
        heldBack = []
        return true
    }

    /// Closes the source.
    package func close() { source.close() }

    private mutating func handOut(
        _ count: Int, of buffer: UnsafeMutableRawBufferPointer
    ) -> Fill {
        guard sent + Int64(count) == announced else {
            sent += Int64(count)
            return .bytes(count)
        }
        // libcurl does not ask again after the announced length, so check for surplus bytes before
        // sending the last ones.
        switch confirmEnd() {
        case .end:
            sent += Int64(count)
            return .bytes(count)
        case .wait:
            heldBack = Array(buffer[..<count])
            return .wait
        case .bytes:
            return .failed(tooLong)
        case .failed(let error):
            return .failed(error)
        }
    }

    private mutating func releaseHeldBack(into buffer: UnsafeMutableRawBufferPointer) -> Fill {
        if !hasEnded, announced != nil {
            switch confirmEnd() {
            case .end: break
            case .wait: return .wait
            case .bytes: return .failed(tooLong)
            case .failed(let error): return .failed(error)
            }
        }
        let count = min(buffer.count, heldBack.count)
        heldBack.withUnsafeBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        heldBack.removeFirst(count)
        sent += Int64(count)
        return .bytes(count)
    }

    /// Checks that the source has no byte beyond the announced length.
    private mutating func confirmEnd() -> Fill {
        var surplus: UInt8 = 0
        switch withUnsafeMutableBytes(of: &surplus, { source.read(into: $0) }) {
        case .end:
            hasEnded = true
            return .end
        case .wait: return .wait
        case .bytes: return .failed(tooLong)
        case .failed(let error): return .failed(error)
        }
    }

    private func tooShort(_ announced: Int64) -> RequestError {
        RequestError(
            .bodyReadFailed, stage: .transport,
            "The body ended after \(sent) of \(announced) announced bytes. "
                + "Announce the right length, or none.")
    }

    private var tooLong: RequestError {
        RequestError(
            .bodyReadFailed, stage: .transport,
            "The body is longer than the announced \(announced ?? 0) bytes. "
                + "Announce the right length, or none.")
    }

    private static var invalidRead: RequestError {
        RequestError(
            .bodyReadFailed, stage: .transport,
            "The body source reported more bytes than requested. Correct its read(into:).")
    }
}
