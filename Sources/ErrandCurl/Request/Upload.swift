package import ErrandCore

/// The request's body on its way out, held to the length that was announced.
package struct Upload {
    /// What to hand to libcurl.
    package enum Fill {
        case bytes(Int)
        case end
        /// The source has nothing yet.
        case wait
        case failed(RequestError)
    }

    private let source: any BodySource
    private let announced: Int64?
    private var sent: Int64 = 0
    /// Whether the source has said that there is no more.
    package private(set) var isComplete = false
    /// The body's last bytes, kept until the source has confirmed that they are the last.
    private var heldBack: [UInt8] = []

    /// Takes a source; `length` is what the head announces.
    package init(_ source: any BodySource) {
        self.source = source
        announced = source.length
    }

    /// How many bytes are announced; `nil` when unknown.
    package var length: Int64? { announced }

    /// How many bytes have been handed out.
    package var bytesSent: Int64 { sent }

    /// Puts the next bytes into the buffer.
    package mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Fill {
        if !heldBack.isEmpty { return releaseHeldBack(into: buffer) }
        if isComplete { return .end }
        guard buffer.count > 0 else { return .wait }
        let rest = announced.map { $0 - sent } ?? .max
        guard rest > 0 else { return confirmEnd() }
        let limit = Int(clamping: min(rest, Int64(buffer.count)))
        switch source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<limit])) {
        case .bytes(let count):
            guard count > 0, count <= limit else { return .failed(Self.misreport) }
            return handOut(count, of: buffer)
        case .end:
            if let announced, sent < announced { return .failed(tooShort(announced)) }
            isComplete = true
            return .end
        case .wait:
            return .wait
        case .failed(let error):
            return .failed(error)
        }
    }

    /// Calls once, from any thread, when the source has more.
    package func whenReadable(_ notify: @escaping @Sendable () -> Void) {
        source.whenReadable(notify)
    }

    /// Begins again, for a request that may be sent twice.
    package mutating func rewind() -> Bool {
        // Nothing of it is gone where nothing was read.
        if sent == 0, !isComplete, heldBack.isEmpty { return true }
        guard source.rewind() else { return false }
        sent = 0
        isComplete = false
        heldBack = []
        return true
    }

    /// Nobody reads any more.
    package func close() { source.close() }

    private mutating func handOut(
        _ count: Int, of buffer: UnsafeMutableRawBufferPointer
    ) -> Fill {
        guard sent + Int64(count) == announced else {
            sent += Int64(count)
            return .bytes(count)
        }
        // libcurl does not ask again once it has what was announced: look for surplus before the last bytes go.
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
        if !isComplete {
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

    /// Asks for one byte more than announced.
    private mutating func confirmEnd() -> Fill {
        var surplus: UInt8 = 0
        switch withUnsafeMutableBytes(of: &surplus, { source.read(into: $0) }) {
        case .end:
            isComplete = true
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
            "The body has more than the \(announced ?? 0) bytes announced. "
                + "Announce the right length, or none.")
    }

    private static var misreport: RequestError {
        RequestError(
            .bodyReadFailed, stage: .transport,
            "The body's source reported more bytes than it was asked for. Correct its read(into:).")
    }
}
