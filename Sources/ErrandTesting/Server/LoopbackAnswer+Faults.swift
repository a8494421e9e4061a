public import Foundation

// What servers do wrong.
extension LoopbackAnswer {
    /// Says nothing and leaves the connection open until the gate opens, then closes it.
    public static func silence(until gate: Gate) -> Self {
        LoopbackAnswer(steps: [.hold(gate), .close], keepsConnection: false)
    }

    /// Closes the connection without a byte.
    public static var dropped: Self {
        LoopbackAnswer(steps: [.close], keepsConnection: false)
    }

    /// Resets the connection without a byte.
    public static var reset: Self {
        LoopbackAnswer(steps: [.reset], keepsConnection: false)
    }

    /// Announces a length and closes before it is reached.
    public static func truncated(announcing length: Int, body: Data) -> Self {
        let header = LoopbackHeader("Content-Length", "\(length)")
        return LoopbackAnswer(
            steps: [.head(status: 200, headers: [header]), .body(body), .close],
            keepsConnection: false)
    }

    /// Sends chunks and closes without the last one.
    public static func truncatedChunked(_ chunks: [Data]) -> Self {
        let header = LoopbackHeader("Transfer-Encoding", "chunked")
        return LoopbackAnswer(
            steps: [.head(status: 200, headers: [header])] + chunks.map { .body(chunk($0)) }
                + [.close],
            keepsConnection: false)
    }

    /// An ordinary head and a body without end; it stops when the gate opens or the client goes.
    public static func endless(
        headers: KeyValuePairs<String, String> = [:],
        repeating bytes: Data = Data(repeating: 0x61, count: 64 << 10), until gate: Gate
    ) -> Self {
        var lines = headers.map { LoopbackHeader($0.key, $0.value) }
        lines.append(LoopbackHeader("Connection", "close"))
        return LoopbackAnswer(
            steps: [.head(status: 200, headers: lines), .endless(bytes, until: gate), .close],
            keepsConnection: false)
    }

    /// The same answer, cut off by closing the connection.
    ///
    /// - Parameter count: How many bytes, head included, go out before.
    public func cut(afterBytes count: Int) -> Self {
        cut(after: count, countingHead: true, by: .close)
    }

    /// The same answer, cut off by a reset.
    ///
    /// - Parameter count: How many bytes, head included, go out before.
    public func reset(afterBytes count: Int) -> Self {
        cut(after: count, countingHead: true, by: .reset)
    }

    /// The same answer, cut off within its body by closing the connection.
    ///
    /// - Parameter count: How many bytes of the body, in its transfer coding, go out before.
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
        return LoopbackAnswer(steps: kept + [ending], keepsConnection: false)
    }

    static func headBytes(status: Int, headers: [LoopbackHeader]) -> Data {
        var text = "HTTP/1.1 \(status) \(HTTPReason.phrase(status))\r\n"
        for header in headers { text += "\(header.name): \(header.value)\r\n" }
        return Data((text + "\r\n").utf8)
    }
}

enum HTTPReason {
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
