import ErrandCore
public import ErrandSystem
public import ErrandTransport

/// The response that a ``ScriptedTransport`` delivers: a list of steps.
public struct ScriptedResponse: Sendable {
    /// The steps, in order.
    public var steps: [Step]
    /// The trailer fields, reported at the end.
    public var trailers: HTTPFields = [:]
    /// The timings and byte counts that are reported at the end.
    public var timings = AttemptTimings()

    /// One step of a response.
    public enum Step: Sendable {
        /// Delivers an interim response.
        case informational(ResponseHead)
        /// Delivers the head of the final response.
        case head(ResponseHead)
        /// Delivers bytes of the body.
        case bytes(Data)
        /// Waits until the gate is open.
        case hold(Gate)
        /// Ends the transfer with an error; later steps are not performed.
        case fail(RequestError)
        /// Accepts a WebSocket and performs the script until its end; later steps are not performed.
        case webSocket(WebSocketScript)
    }

    /// Creates a response from single steps.
    ///
    /// After the last one, the transfer ends without an error.
    public init(steps: [Step]) { self.steps = steps }

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The status. Default 200.
    ///   - headers: The headers, in order; `Content-Length` is not added. Default none.
    ///   - body: The body, delivered in one piece. Default none.
    public init(
        status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], body: Data = Data()
    ) {
        let head = ResponseHead(
            status: status, headers: headers, httpVersion: .http11,
            contentLength: Int64(body.count))
        steps = [.head(head)] + (body.isEmpty ? [] : [.bytes(body)])
    }

    /// Creates a response with a JSON text and the content type `application/json`.
    public static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Self {
        ScriptedResponse(
            status: status, headers: [.contentType: "application/json"], body: Data(text.utf8))
    }

    /// Ends the transfer with an error, without a response.
    public static func failure(_ error: RequestError) -> Self {
        ScriptedResponse(steps: [.fail(error)])
    }

    /// Sends no response; the transfer ends when it is cancelled.
    public static var silence: Self { ScriptedResponse(steps: [.hold(Gate())]) }

    /// Accepts a WebSocket, and plays the server's side.
    ///
    ///     transport.on(.get, "/echo", .webSocket { $0.echo() })
    ///
    /// - Parameter build: Adds the steps to the script, once.
    public static func webSocket(_ build: (inout WebSocketScript) -> Void) -> Self {
        ScriptedResponse(steps: [.webSocket(WebSocketScript(build))])
    }

    /// The same response, delayed until the gate opens.
    public func held(by gate: Gate) -> Self {
        var copy = self
        copy.steps.insert(.hold(gate), at: 0)
        return copy
    }
}
