import ErrandSystem
import ErrandTransport

extension Response {
    /// The channel of a streamed body; `nil` if the body is complete.
    var channel: BodyChannel? {
        // The one type that conforms; see `StreamedBody`.
        (stream as? StreamedBody)?.channel
    }

    /// The reader's channel of a complete response, whose body is in memory or is read in parts.
    var channelOfCompleteBody: BodyChannel {
        guard let large = stream as? StoredResponse.LargeBody else { return BodyChannel(data) }
        return .reading(count: large.parts.count, large.parts.bytes, atEnd: large.ended)
    }

    /// The complete response to a head, with the copy of its body; `nil` if the copy was given up
    /// or cannot be read.
    func completed(by copy: SpooledCopy) -> Response? {
        guard let count = copy.finish() else { return nil }
        let parts = StoredResponse.ChunkedBody(count: count) { copy.bytes(in: $0) ?? Data() }
        if count > StoredResponse.LargeBody.threshold {
            return streamed(StoredResponse.LargeBody(parts))
        }
        guard let bytes = copy.bytes(in: 0..<count) else { return nil }
        var complete = self
        complete.body = .data(bytes)
        return complete
    }

    /// Calls a closure when the body has ended, on any thread: at once if it is complete.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        guard let channel else { return body() }
        channel.whenEnded { _ in body() }
    }
}
