public import ErrandSystem

/// The response that a ``LoopbackServer`` sends: a list of steps, down to single bytes.
///
///     LoopbackResponse(status: 404, headers: ["Content-Type": "text/plain"], body: "no")
public struct LoopbackResponse: Sendable {
    /// The steps, in order.
    public var steps: [Step]
    /// Whether the connection stays open after the last step.
    ///
    /// Default true.
    public var keepsConnection: Bool

    /// Creates a response from single steps.
    public init(steps: [Step], keepsConnection: Bool = true) {
        self.steps = steps
        self.keepsConnection = keepsConnection
    }

    /// Creates a response with `Content-Length`.
    ///
    /// 1xx, 204 and 304 have neither body nor length. For HEAD requests, the server sends the length and omits
    /// the body.
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

    /// Creates a response with a text body; see ``init(status:headers:body:)-(_,_,Data)``.
    public init(
        status: Int = 200, headers: KeyValuePairs<String, String> = [:], body: String
    ) {
        self.init(status: status, headers: headers, body: Data(body.utf8))
    }

    /// One step of a response.
    public enum Step: Sendable {
        /// Sends a status line, header lines and a blank line.
        case head(status: Int, headers: [LoopbackHeader])
        /// Sends bytes of the body; does nothing for a HEAD request.
        case body(Data)
        /// Sends bytes unchanged.
        case bytes(Data)
        /// Waits until the gate is open; closes the connection if the client disconnects first.
        case hold(Gate)
        /// Sends the bytes repeatedly until the gate is open or the client disconnects.
        case endless(Data, until: Gate)
        /// Reads up to the number of further bytes of the request's body; `nil` reads all of it.
        ///
        /// For routes that do not read the body before the handler is called.
        case receiveBody(upTo: Int?)
        /// Closes the sending side of the connection (a half-close).
        case finishSending
        /// Closes the connection; a client that is still sending receives a reset.
        case close
        /// Resets the connection (RST), so that the client's next read fails.
        case reset
        /// Accepts a WebSocket and performs the script; then the connection is closed.
        case webSocket(WebSocketScript)
    }
}

// MARK: - Other valid responses

extension LoopbackResponse {
    /// A response in chunked transfer coding, with optional trailers.
    public static func chunked(
        status: Int = 200, headers: KeyValuePairs<String, String> = [:], _ chunks: [Data],
        trailers: KeyValuePairs<String, String> = [:]
    ) -> Self {
        var lines = headers.map { LoopbackHeader($0.key, $0.value) }
        lines.append(LoopbackHeader("Transfer-Encoding", "chunked"))
        let tail = "0\r\n" + trailers.map { "\($0.key): \($0.value)\r\n" }.joined() + "\r\n"
        return LoopbackResponse(
            steps: [.head(status: status, headers: lines)]
                + chunks.filter { !$0.isEmpty }.map { .body(chunk($0)) } + [.body(Data(tail.utf8))])
    }

    /// A response of unchanged bytes, after which the connection is closed by default.
    public static func raw(_ text: String, keepsConnection: Bool = false) -> Self {
        LoopbackResponse(steps: [.bytes(Data(text.utf8))], keepsConnection: keepsConnection)
    }

    /// Accepts a WebSocket, and plays the server's side.
    ///
    ///     server.route("/echo") { _ in .webSocket { $0.echo() } }
    ///
    /// A request that asks for no WebSocket gets 426.
    ///
    /// - Parameter build: Adds the steps to the script, once.
    public static func webSocket(_ build: (inout WebSocketScript) -> Void) -> Self {
        LoopbackResponse(steps: [.webSocket(WebSocketScript(build))], keepsConnection: false)
    }

    /// The encoding of one chunk: its size line, its data and a line break.
    public static func chunk(_ data: Data) -> Data {
        Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8)
    }

    /// The same response after an interim response, such as 103.
    public func preceded(
        byInterim status: Int, headers: KeyValuePairs<String, String> = [:]
    ) -> Self {
        let lines = headers.map { LoopbackHeader($0.key, $0.value) }
        return inserting(.head(status: status, headers: lines), at: 0)
    }

    /// The same response, delayed until the gate opens.
    public func held(by gate: Gate) -> Self { inserting(.hold(gate), at: 0) }

    /// The same response, after which the connection is closed without `Connection: close` in the head.
    public func closing() -> Self {
        LoopbackResponse(steps: steps, keepsConnection: false)
    }

    private func inserting(_ step: Step, at index: Int) -> Self {
        var copy = self
        copy.steps.insert(step, at: index)
        return copy
    }
}
