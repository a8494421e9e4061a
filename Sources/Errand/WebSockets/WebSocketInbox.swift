import ErrandSystem

/// The messages of a WebSocket that wait for their reader, in memory that is in proportion to them.
struct WebSocketInbox: Sendable {
    private var messages: [WebSocketDriver.Message] = []
    /// The number of messages at the start that were taken.
    private var taken = 0
    /// The bytes of the messages, with 64 for each, because an empty message waits, too.
    private(set) var bytes = 0

    var isEmpty: Bool { taken == messages.count }

    /// The number of places that have memory.
    var places: Int { messages.count }

    mutating func append(_ message: WebSocketDriver.Message) {
        messages.append(message)
        bytes += Self.size(of: message)
    }

    mutating func takeFirst() -> WebSocketDriver.Message? {
        guard !isEmpty else { return nil }
        let message = exchange(
            &messages[taken], with: WebSocketDriver.Message(isText: false, bytes: Data()))
        taken += 1
        bytes -= Self.size(of: message)
        if isEmpty {
            messages.removeAll(keepingCapacity: messages.count < 64)
            taken = 0
        } else if taken >= 64, taken >= messages.count / 2 {
            // A reader that is slower than the server never takes the last one.
            messages.removeFirst(taken)
            taken = 0
        }
        return message
    }

    /// Removes the first message that is larger than this, and those after it; returns whether there is one.
    mutating func removeAll(fromOneAbove limit: Int) -> Bool {
        guard let index = messages[taken...].firstIndex(where: { $0.bytes.count > limit }) else {
            return false
        }
        for message in messages[index...] { bytes -= Self.size(of: message) }
        messages.removeSubrange(index...)
        return true
    }

    private static func size(of message: WebSocketDriver.Message) -> Int {
        message.bytes.count + 64
    }
}
