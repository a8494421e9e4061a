public import ErrandSystem

// Invalid and incomplete responses.
extension LoopbackResponse {
    /// Sends nothing until the gate opens, then closes the connection.
    public static func silence(until gate: Gate) -> Self {
        LoopbackResponse(steps: [.hold(gate), .close], keepsConnection: false)
    }

    /// Closes the connection without sending a byte.
    public static var dropped: Self {
        LoopbackResponse(steps: [.close], keepsConnection: false)
    }

    /// Resets the connection without sending a byte.
    public static var reset: Self {
        LoopbackResponse(steps: [.reset], keepsConnection: false)
    }

    /// Announces a length, sends the body and closes the connection.
    public static func truncated(announcing length: Int, body: Data) -> Self {
        let header = LoopbackHeader("Content-Length", "\(length)")
        return LoopbackResponse(
            steps: [.head(status: 200, headers: [header]), .body(body), .close],
            keepsConnection: false)
    }

    /// Sends chunks and closes the connection without the last chunk.
    public static func truncatedChunked(_ chunks: [Data]) -> Self {
        let header = LoopbackHeader("Transfer-Encoding", "chunked")
        return LoopbackResponse(
            steps: [.head(status: 200, headers: [header])] + chunks.map { .body(chunk($0)) }
                + [.close],
            keepsConnection: false)
    }

    /// Sends a valid head and an endless body, until the gate opens or the client disconnects.
    public static func endless(
        headers: KeyValuePairs<String, String> = [:],
        repeating bytes: Data = Data(repeating: 0x61, count: 64 << 10), until gate: Gate
    ) -> Self {
        var lines = headers.map { LoopbackHeader($0.key, $0.value) }
        lines.append(LoopbackHeader("Connection", "close"))
        return LoopbackResponse(
            steps: [.head(status: 200, headers: lines), .endless(bytes, until: gate), .close],
            keepsConnection: false)
    }

    /// The same response, truncated by a close of the connection.
    ///
    /// - Parameter count: The number of bytes to send before, including the head.
    public func cut(afterBytes count: Int) -> Self {
        cut(after: count, countingHead: true, by: .close)
    }

    /// The same response, truncated by a reset of the connection.
    ///
    /// - Parameter count: The number of bytes to send before, including the head.
    public func reset(afterBytes count: Int) -> Self {
        cut(after: count, countingHead: true, by: .reset)
    }

    /// The same response, truncated inside its body by a close of the connection.
    ///
    /// - Parameter count: The number of body bytes to send before, in the transfer coding.
    public func cut(afterBodyBytes count: Int) -> Self {
        cut(after: count, countingHead: false, by: .close)
    }

    private func cut(after count: Int, countingHead: Bool, by ending: Step) -> Self {
        var left = max(0, count)
        var kept: [Step] = []
        for step in steps {
            var bytes: Data
            switch step {
            case .head(let status, let headers):
                guard countingHead else {
                    kept.append(step)
                    continue
                }
                bytes = Self.headBytes(status: status, headers: headers)
            case .body(let data): bytes = data
            case .bytes(let data): bytes = data
            default:
                kept.append(step)
                continue
            }
            if bytes.count > left { bytes = Data(bytes.prefix(left)) }
            left -= bytes.count
            kept.append(.bytes(bytes))
            if left == 0 { break }
        }
        return LoopbackResponse(steps: kept + [ending], keepsConnection: false)
    }

    static func headBytes(status: Int, headers: [LoopbackHeader]) -> Data {
        var text = "HTTP/1.1 \(status) \(ReasonPhrase.phrase(status))\r\n"
        for header in headers { text += "\(header.name): \(header.value)\r\n" }
        return Data((text + "\r\n").utf8)
    }
}

enum ReasonPhrase {
    static func phrase(_ status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 103: "Early Hints"
        case 200: "OK"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 304: "Not Modified"
        case 401: "Unauthorized"
        case 404: "Not Found"
        case 413: "Content Too Large"
        case 416: "Range Not Satisfiable"
        case 500: "Internal Server Error"
        default: "Status"
        }
    }
}
