import ErrandTransport
import HTTPTypes

/// Writes the body of a request, with its transfer coding (RFC 9112 §6, §7.1).
struct RequestBodyWriter {
    /// The result of one step.
    enum Step {
        /// Bytes were appended; the body has more.
        case bytes
        /// The body is complete, with the bytes that were appended.
        case complete
        /// The source has no bytes yet; nothing was appended.
        case wait
        case failed(RequestError)
    }

    private let isChunked: Bool
    /// Whether the last byte of the message was written.
    private(set) var isComplete: Bool

    /// Creates the writer of a body that the head announces with this length.
    init(_ length: RequestWriter.BodyLength) {
        isComplete = length == .none || length == .bytes(0)
        if case .chunked = length { isChunked = true } else { isChunked = false }
    }

    /// Appends the next bytes of the message to a buffer, at most `limit` of the body's own.
    mutating func write(
        from upload: inout Upload, into buffer: TextBuffer, limit: Int
    ) -> Step {
        guard !isComplete else { return .complete }
        let step =
            isChunked
            ? writeChunk(from: &upload, into: buffer, limit: limit)
            : writePlain(from: &upload, into: buffer, limit: limit)
        if case .complete = step { isComplete = true }
        return step
    }

    private func writePlain(
        from upload: inout Upload, into buffer: TextBuffer, limit: Int
    ) -> Step {
        var fill = Upload.Fill.end
        buffer.append(upTo: limit) { room in
            fill = upload.fill(room)
            if case .bytes(let count) = fill { return count }
            return 0
        }
        return switch fill {
        case .bytes: upload.isComplete ? .complete : .bytes
        case .end: .complete
        case .wait: .wait
        case .failed(let error): .failed(error)
        }
    }

    private func writeChunk(
        from upload: inout Upload, into buffer: TextBuffer, limit: Int
    ) -> Step {
        let start = buffer.count
        // Room for the size line, which is known after the data.
        let line = Self.digits(of: limit) + 2
        var fill = Upload.Fill.end
        buffer.append(upTo: line + limit + 2) { room in
            let data = UnsafeMutableRawBufferPointer(rebasing: room[line..<(line + limit)])
            fill = upload.fill(data)
            guard case .bytes(let count) = fill else { return 0 }
            return Self.frame(count, at: line, in: room)
        }
        switch fill {
        case .bytes: return .bytes
        case .wait: return .wait
        case .failed(let error): return .failed(error)
        case .end:
            do throws(RequestError) {
                try writeLastChunk(trailers: upload.trailers, into: buffer)
                return .complete
            } catch {
                buffer.truncate(to: start)
                return .failed(error)
            }
        }
    }

    private func writeLastChunk(
        trailers: HTTPFields, into buffer: TextBuffer
    ) throws(RequestError) {
        buffer.append(line: "0")
        for field in trailers { try RequestWriter.write(field, into: buffer) }
        buffer.appendLineEnd()
    }

    /// Writes the size line before the data and the line end after it; returns the number of bytes.
    private static func frame(
        _ count: Int, at start: Int, in room: UnsafeMutableRawBufferPointer
    ) -> Int {
        let digits = digits(of: count)
        if digits + 2 < start, let base = room.baseAddress {
            // Fewer digits than there is room for: the data moves forward.
            (base + digits + 2).copyMemory(from: base + start, byteCount: count)
        }
        var rest = count
        for index in stride(from: digits - 1, through: 0, by: -1) {
            let digit = UInt8(rest & 0xF)
            room[index] = digit < 10 ? 0x30 + digit : 0x61 + digit - 10
            rest >>= 4
        }
        (room[digits], room[digits + 1]) = (0x0D, 0x0A)
        let end = digits + 2 + count
        (room[end], room[end + 1]) = (0x0D, 0x0A)
        return end + 2
    }

    /// The number of hexadecimal digits of a positive number.
    private static func digits(of count: Int) -> Int {
        (Int.bitWidth - count.leadingZeroBitCount + 3) / 4
    }
}
