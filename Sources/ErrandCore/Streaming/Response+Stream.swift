import ErrandStreaming
import ErrandTransport

extension Response {
    /// The channel of a streamed body; `nil` if the body is complete.
    var channel: BodyChannel? {
        // The one type that conforms; see `StreamedBody`.
        (stream as? StreamedBody)?.channel
    }

    /// Calls a closure when the body has ended, on any thread: at once if it is complete.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        guard let channel else { return body() }
        channel.whenEnded { _ in body() }
    }
}
