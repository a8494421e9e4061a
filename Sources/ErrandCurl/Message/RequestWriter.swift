import ErrandTransport
import HTTPTypes

/// Writes the head of an HTTP/1.1 request (RFC 9112 §3, §5).
///
/// The transport writes `Host`, `Content-Length` and `Transfer-Encoding` itself and ignores such
/// fields of the request. It leaves out `Expect: 100-continue` if there is no body (RFC 9110
/// §10.1.1).
enum RequestWriter {
    /// The form of the request target (RFC 9112 §3.2).
    enum Target: Sendable, Hashable {
        /// Path and query, for the origin server.
        case origin
        /// The complete URL, for a proxy, and the proxy's credentials, such as `Basic …`.
        case absolute(proxyAuthorization: String?)
    }

    /// The way in which the head announces the end of the body (RFC 9112 §6).
    enum BodyLength: Sendable, Hashable {
        /// There is no body.
        case none
        case bytes(Int64)
        /// The length is unknown, or trailers with these names follow the body.
        case chunked(trailers: [String] = [])

        /// Creates the announcement of a body of this length, `nil` if it is unknown, with trailers.
        init(_ length: Int64?, trailers: [String] = []) {
            guard let length, trailers.isEmpty else {
                self = .chunked(trailers: trailers)
                return
            }
            self = .bytes(length)
        }

        /// Whether the body has no bytes and no trailers.
        var isEmpty: Bool { self == .none || self == .bytes(0) }

        /// Whether trailers follow the body.
        var hasTrailers: Bool {
            if case .chunked(let trailers) = self { !trailers.isEmpty } else { false }
        }
    }

    /// Appends the head of a request to a buffer, which is unchanged if the request has an error.
    ///
    /// - Parameter isRepeated: Whether the head is written again for the same sending of the request.
    /// - Throws: ``RequestError`` with the stage `build` if the request must not be written: its URL,
    ///   method or a header could end a line or credentials for a proxy would reach the server.
    static func write(
        _ request: TransportRequest, body: BodyLength, target: Target = .origin,
        isRepeated: Bool = false, into buffer: TextBuffer
    ) throws(RequestError) {
        let start = buffer.count
        let isRequestAlone = if case (.none, .origin) = (body, target) { true } else { false }
        if isRequestAlone, let head = request.writtenHead {
            return head.value.withUnsafeBytes { buffer.append($0) }
        }
        do throws(RequestError) {
            try request.method.check()
            try request.checkURL()
            buffer.append(request.method.rawValue)
            buffer.append(UInt8(ascii: " "))
            try writeTarget(request.url, target, into: buffer)
            buffer.append(line: " HTTP/1.1")
            buffer.append("Host: ")
            writeAuthority(request.url, into: buffer)
            buffer.appendLineEnd()
            if case .absolute(let credentials?) = target {
                buffer.append("Proxy-Authorization: ")
                try check(credentials.utf8, of: "Proxy-Authorization")
                buffer.append(line: credentials)
            }
            try writeFields(of: request, body: body, into: buffer)
            buffer.appendLineEnd()
        } catch {
            buffer.truncate(to: start)
            throw error
        }
        if isRequestAlone, !isRepeated {
            request.keep(
                writtenHead: UnsafeRawBufferPointer(rebasing: buffer.contents[start...]))
        }
    }

    // MARK: - Request line

    private static func writeTarget(
        _ url: HTTPURL, _ target: Target, into buffer: TextBuffer
    ) throws(RequestError) {
        let start = buffer.count
        if case .absolute = target {
            buffer.append(url.scheme ?? "http")
            buffer.append("://")
            writeAuthority(url, into: buffer)
        }
        buffer.appendTarget(of: url)
        // A URI has no such bytes. One of them would end the target, or the line.
        let written = buffer.contents[start...]
        guard written.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw RequestError(
                .invalidURL, stage: .build,
                "The URL's path or query contains a space or a control character.")
        }
    }

    /// Writes host and port; the default port is omitted (RFC 9110 §4.2.3).
    private static func writeAuthority(_ url: HTTPURL, into buffer: TextBuffer) {
        buffer.append(url.host ?? "")
        guard let port = url.port, port != (url.isHTTPS ? 443 : 80) else { return }
        buffer.append(UInt8(ascii: ":"))
        buffer.append(decimal: Int64(port))
    }

    // MARK: - Fields

    private static func writeFields(
        of request: TransportRequest, body: BodyLength, into buffer: TextBuffer
    ) throws(RequestError) {
        var contentType = request.body?.contentType
        var announcesCodings = request.options.decodesContent
        for field in request.headers {
            let name = field.name.canonicalName
            // Comparing lengths costs less than comparing strings.
            switch name.utf8.count {
            case 4 where name == "host": continue
            case 6 where name == "expect" && body.isEmpty && isContinue(field): continue
            case 14 where name == "content-length": continue
            case 17 where name == "transfer-encoding": continue
            case 7 where body.hasTrailers && name == "trailer": continue
            case 12 where name == "content-type": contentType = nil
            case 19 where name == "proxy-authorization":
                throw TransportRequest.hasProxyAuthorization
            // A range selects bytes of the encoded form (RFC 9110 §14.2), and a part of it could
            // not be decoded.
            case 15 where name == "accept-encoding": announcesCodings = false
            case 5 where name == "range": announcesCodings = false
            default: break
            }
            try write(field, into: buffer)
        }
        if let contentType {
            try write(HTTPField(name: .contentType, value: contentType), into: buffer)
        }
        if announcesCodings, let line = acceptEncoding { buffer.append(line: line) }
        switch body {
        case .chunked(let trailers):
            buffer.append(line: "Transfer-Encoding: chunked")
            try announce(trailers, into: buffer)
        case .bytes(let length):
            buffer.append("Content-Length: ")
            buffer.append(decimal: length)
            buffer.appendLineEnd()
        case .none:
            // A method that expects a body announces an empty one (RFC 9110 §8.6).
            if request.method != .get,
                request.method == .post || request.method == .put || request.method == .patch
            {
                buffer.append(line: "Content-Length: 0")
            }
        }
    }

    /// Whether the client waits for 100 (Continue) before it sends the body.
    static func isContinue(_ field: HTTPField) -> Bool {
        field.value.lowercasedASCII() == "100-continue"
    }

    /// Announces trailers (RFC 9110 §6.6.2).
    private static func announce(
        _ trailers: [String], into buffer: TextBuffer
    ) throws(RequestError) {
        guard !trailers.isEmpty else { return }
        try TrailerSource.check(trailers)
        buffer.append(line: announcement(of: trailers))
    }

    /// The line that announces trailers.
    static func announcement(of trailers: [String]) -> String {
        "Trailer: " + trailers.joined(separator: ", ")
    }

    /// The line that announces the content codings; `nil` if none can be decoded.
    #if os(Linux)
        static let acceptEncoding: String? =
            ContentCoding.announcement.isEmpty
            ? nil : "Accept-Encoding: " + ContentCoding.announcement
    #else
        static let acceptEncoding: String? = nil
    #endif

    /// Appends a field line.
    static func write(_ field: HTTPField, into buffer: TextBuffer) throws(RequestError) {
        buffer.append(field.name.rawName)
        buffer.append(UInt8(ascii: ":"))
        let isValid = field.withUnsafeBytesOfValue { value in
            if !value.isEmpty { buffer.append(UInt8(ascii: " ")) }
            buffer.append(UnsafeRawBufferPointer(value))
            return value.allSatisfy(isAllowed)
        }
        guard isValid else { throw controlCharacter(in: field.name.rawName) }
        buffer.appendLineEnd()
    }

    private static func check(
        _ bytes: some Sequence<UInt8>, of name: String
    ) throws(RequestError) {
        guard bytes.allSatisfy(isAllowed) else { throw controlCharacter(in: name) }
    }

    /// Whether a byte may occur in a field value; CR, LF and NUL may not (RFC 9110 §5.5).
    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte > 0x0D || byte != 0x0D && byte != 0x0A && byte != 0
    }

    private static func controlCharacter(in name: String) -> RequestError {
        RequestError(
            .invalidHeader, stage: .build,
            "The value of the header \(name) contains CR, LF or NUL.")
    }
}

extension TextBuffer {
    /// Appends text and a line end.
    func append(line: String) {
        append(line)
        appendLineEnd()
    }

    func appendLineEnd() {
        append(UInt8(ascii: "\r"))
        append(UInt8(ascii: "\n"))
    }
}

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
        isComplete = length.isEmpty
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
