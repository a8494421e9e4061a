public import ErrandCore
public import Foundation

/// What ``ScriptedTransport`` brings for one request: a list of steps.
public struct ScriptedAnswer: Sendable {
    /// What to do, in order.
    public var steps: [Step]
    /// Header fields behind the body.
    public var trailers: HTTPFields = [:]
    /// What the end tells about times and bytes.
    public var timings = AttemptTimings()

    /// One thing to do.
    public enum Step: Sendable {
        /// Tells an interim answer.
        case informational(ResponseHead)
        /// Tells the head.
        case head(ResponseHead)
        /// Tells bytes of the body.
        case bytes(Data)
        /// Waits until the gate is open.
        case hold(Gate)
        /// Ends with an error; what follows is not done.
        case fail(RequestError)
    }

    /// Makes an answer of single steps; behind the last one it ends well.
    public init(steps: [Step]) { self.steps = steps }

    /// Makes an ordinary answer.
    ///
    /// - Parameters:
    ///   - status: The status. Default 200.
    ///   - headers: The headers, in order; `Content-Length` is not added.
    ///   - body: The body, told in one piece. Default none.
    public init(
        status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], body: Data = Data()
    ) {
        let head = ResponseHead(
            status: status, headers: headers, httpVersion: .http11,
            contentLength: Int64(body.count))
        steps = [.head(head)] + (body.isEmpty ? [] : [.bytes(body)])
    }

    /// Makes an ordinary answer with a JSON text as its body and `application/json` as its content type.
    public static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Self {
        ScriptedAnswer(
            status: status, headers: [.contentType: "application/json"], body: Data(text.utf8))
    }

    /// Fails without an answer.
    public static func failure(_ error: RequestError) -> Self {
        ScriptedAnswer(steps: [.fail(error)])
    }

    /// Never answers: ends when it is cancelled.
    public static var silence: Self { ScriptedAnswer(steps: [.hold(Gate())]) }

    /// The same answer, held back until the gate opens.
    public func held(by gate: Gate) -> Self {
        var copy = self
        copy.steps.insert(.hold(gate), at: 0)
        return copy
    }
}
