/// An event of an event stream, as the HTML standard defines it (`text/event-stream`).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event: the value of the last `event` field, `message` by default.
    public var type: String
    /// The values of the `data` fields, separated by LF.
    public var data: String
    /// The last event ID: the value of the last `id` field in the stream up to this event.
    ///
    /// Empty by default. A reconnecting client sends it as `Last-Event-ID`; values that this header cannot carry are
    /// ignored, see ``Parser``.
    public var id: String

    /// Creates an event.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}
