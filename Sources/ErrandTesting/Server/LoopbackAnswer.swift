public import Foundation

/// What ``LoopbackServer`` does after it has read a request: a list of steps, down to single bytes.
///
///     LoopbackAnswer(status: 404, headers: ["Content-Type": "text/plain"], body: "no")
public struct LoopbackAnswer: Sendable {
    /// What to do, in order.
    public var steps: [Step]
    /// Whether the connection may carry a further request after the last step: true by default.
    public var keepsConnection: Bool

    /// Makes an answer of single steps.
    public init(steps: [Step], keepsConnection: Bool = true) {
        self.steps = steps
        self.keepsConnection = keepsConnection
    }

    /// Makes an ordinary answer with `Content-Length`.
    ///
    /// 1xx, 204 and 304 carry neither body nor length. The answer to HEAD carries only the length: the
    /// server leaves the body away by itself.
    ///
    /// - Parameters:
    ///   - status: The status. Default 200.
    ///   - headers: Header lines in order, duplicates allowed.
    ///   - body: The body. Default none.
    public init(
        status: Int = 200, headers: KeyValuePairs<String, String> = [:], body: Data = Data()
    ) {
        var lines = headers.map { LoopbackHeader($0.key, $0.value) }
        let isBodyless = status < 200 || status == 204 || status == 304
        if !isBodyless { lines.append(LoopbackHeader("Content-Length", "\(body.count)")) }
        self.init(steps: [.head(status: status, headers: lines)])
        if !isBodyless, !body.isEmpty { steps.append(.body(body)) }
    }

    /// Makes an ordinary answer with a text as its body; see ``init(status:headers:body:)-(_,_,Data)``.
    public init(
        status: Int = 200, headers: KeyValuePairs<String, String> = [:], body: String
    ) {
        self.init(status: status, headers: headers, body: Data(body.utf8))
    }

    /// One thing to do.
    public enum Step: Sendable {
        /// Sends a status line and header lines, and the blank line behind them.
        case head(status: Int, headers: [LoopbackHeader])
        /// Sends bytes of a body; left away when the request was HEAD.
        case body(Data)
        /// Sends bytes just as they are.
        case bytes(Data)
        /// Waits until the gate is open, or the client has gone.
        case hold(Gate)
        /// Sends the bytes again and again until the gate is open or the client has gone.
        case endless(Data, until: Gate)
        /// Reads so many further bytes of the request's body; `nil` reads all of it.
        ///
        /// Of use on routes that answer before the body was read.
        case receiveBody(upTo: Int?)
        /// Says that nothing more will be sent, and goes on reading.
        case finishSending
        /// Closes the connection at once; a client that still sends sees a reset.
        case close
        /// Closes the connection by RST, so that the client's next read fails.
        case reset
    }
}

// MARK: - Ordinary answers in other forms

extension LoopbackAnswer {
    /// An answer in chunked coding, with trailers if wanted.
    public static func chunked(
        status: Int = 200, headers: KeyValuePairs<String, String> = [:], _ chunks: [Data],
        trailers: KeyValuePairs<String, String> = [:]
    ) -> Self {
        var lines = headers.map { LoopbackHeader($0.key, $0.value) }
        lines.append(LoopbackHeader("Transfer-Encoding", "chunked"))
        let tail = "0\r\n" + trailers.map { "\($0.key): \($0.value)\r\n" }.joined() + "\r\n"
        return LoopbackAnswer(
            steps: [.head(status: status, headers: lines)]
                + chunks.filter { !$0.isEmpty }.map { .body(chunk($0)) } + [.body(Data(tail.utf8))])
    }

    /// Bytes sent just as they are, then the connection is closed.
    public static func raw(_ text: String, keepsConnection: Bool = false) -> Self {
        LoopbackAnswer(steps: [.bytes(Data(text.utf8))], keepsConnection: keepsConnection)
    }

    /// One piece of a chunked body, with its size line.
    public static func chunk(_ data: Data) -> Data {
        Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8)
    }

    /// The same answer, after interim ones such as 103.
    public func preceded(
        byInterim status: Int, headers: KeyValuePairs<String, String> = [:]
    ) -> Self {
        let lines = headers.map { LoopbackHeader($0.key, $0.value) }
        return inserting(.head(status: status, headers: lines), at: 0)
    }

    /// The same answer, held back until the gate opens.
    public func held(by gate: Gate) -> Self { inserting(.hold(gate), at: 0) }

    /// The same answer, with the connection closed afterwards, without a word in its head.
    public func closing() -> Self {
        LoopbackAnswer(steps: steps, keepsConnection: false)
    }

    private func inserting(_ step: Step, at index: Int) -> Self {
        var copy = self
        copy.steps.insert(step, at: index)
        return copy
    }
}
