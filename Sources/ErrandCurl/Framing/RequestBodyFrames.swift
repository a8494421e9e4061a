import ErrandTransport
import HTTPTypes

/// Writes the body of a request as DATA, and its trailers as HEADERS (RFC 9113 §8.1).
struct RequestBodyFrames {
    /// The result of one step.
    enum Step {
        /// A frame was appended; the body has more.
        case frame
        /// The request is complete with what was appended; `endsStream` if its response is, too.
        case complete(endsStream: Bool)
        /// The source has no bytes yet; nothing was appended.
        case wait
        /// A window is used up; nothing was appended.
        case blocked
        /// The response is a refusal, or the stream has ended: the rest of the body is not sent.
        case stopped
        case failed(RequestError)
    }

    private let hasTrailers: Bool
    /// Whether the request is complete.
    private(set) var isComplete: Bool

    /// Creates the writer of a body that the head announces in this way.
    init(_ body: RequestHead.Body?) {
        hasTrailers = body?.trailers.isEmpty == false
        isComplete = body?.isEmpty ?? true
    }

    /// Appends the next frame, with at most `limit` bytes of the body.
    mutating func write(
        from upload: inout Upload, on key: StreamKey, of session: inout SessionState, limit: Int,
        into output: TextBuffer
    ) -> Step {
        guard !isComplete else { return .complete(endsStream: false) }
        guard session.isSending(key) else { return .stopped }
        if session.available(on: key) == 0 {
            // The end needs no window (RFC 9113 §6.9.1).
            switch upload.lookForEnd() {
            case .end: break
            case .bytes: return .blocked
            case .wait: return .wait
            case .failed(let error): return .failed(error)
            }
        }
        let hasTrailers = hasTrailers
        var fill = Upload.Fill.wait
        let endsStream = session.send(on: key, upTo: limit, into: output) { room in
            fill = upload.fill(room)
            switch fill {
            case .bytes(let count): return (count, upload.isComplete && !hasTrailers)
            case .end: return hasTrailers ? nil : (0, true)
            case .wait, .failed: return nil
            }
        }
        switch fill {
        case .wait: return .wait
        case .failed(let error): return .failed(error)
        case .bytes where !upload.isComplete || hasTrailers: return .frame
        case .bytes, .end:
            isComplete = true
            guard hasTrailers else { return .complete(endsStream: endsStream) }
            return .complete(endsStream: writeTrailers(upload.trailers, key, &session, output))
        }
    }

    /// Ends the request with its trailers, or with empty content if their producer has made none.
    private func writeTrailers(
        _ trailers: HTTPFields, _ key: StreamKey, _ session: inout SessionState,
        _ output: TextBuffer
    ) -> Bool {
        guard trailers.isEmpty else {
            return session.send(trailers: trailers, on: key, into: output)
        }
        return session.send(on: key, upTo: 0, into: output) { _ in (0, true) }
    }
}
