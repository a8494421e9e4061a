package import ErrandHTTP
package import ErrandSystem

/// The messages of a WebSocket that a recording keeps: the latest ones, up to a number and a number of bytes.
package struct RecordedConversation: Sendable {
    /// A message and its time.
    package struct Message: Sendable {
        package let time: Date
        package let content: WebSocketEvent.Message

        /// The memory of the message.
        fileprivate var cost: Int { (content.payload?.count ?? 0) + 128 }
    }

    /// The bounds of a conversation.
    package struct Limits: Sendable {
        package var messages: Int
        /// The largest memory of all messages.
        package var bytes: Int

        package init(messages: Int = 10_000, bytes: Int) {
            (self.messages, self.bytes) = (messages, bytes)
        }
    }

    /// The subprotocol of the connection; `nil` for none.
    package private(set) var subprotocol: String?
    /// The extensions of the connection; `nil` for none.
    package private(set) var extensions: String?
    /// The last round trip; `nil` before the first one.
    package private(set) var roundTrip: Duration?
    /// The end of the connection; `nil` while it is open.
    package private(set) var close: WebSocketClose?
    /// The number of messages at the start that were removed.
    package private(set) var omitted = 0
    /// The memory of the messages.
    package private(set) var bytes = 0
    /// The numbers of messages and of their bytes, by direction, with those that were removed.
    package private(set) var totals:
        [WebSocketEvent.Message.Direction: (count: Int, bytes: Int64)] =
            [:]
    private let limits: Limits
    /// The messages after ``start`` removed ones, whose places are released together.
    private var slots: [Message?] = []
    private var start = 0

    package init(_ limits: Limits) { self.limits = limits }

    /// The number of the next message; messages count from 0.
    package var nextNumber: Int { omitted + slots.count - start }

    /// The messages from a number on, the oldest first.
    package func messages(from number: Int = 0) -> [(number: Int, message: Message)] {
        let first = max(0, number - omitted)
        return slots[start...].dropFirst(first).enumerated().compactMap { offset, message in
            message.map { (omitted + first + offset, $0) }
        }
    }

    /// Adds an event, and removes the oldest messages above the limits.
    package mutating func add(_ event: WebSocketEvent, at time: Date) {
        switch event {
        case .opened(let subprotocol, let extensions):
            (self.subprotocol, self.extensions) = (subprotocol, extensions)
        case .roundTrip(let duration): roundTrip = duration
        case .closed(let close): self.close = close
        case .message(var content):
            var total = totals[content.direction] ?? (0, 0)
            total.count += content.count
            total.bytes += content.bytes
            totals[content.direction] = total
            // One large message does not remove all others.
            if (content.payload?.count ?? 0) > limits.bytes / 2 { content.payload = nil }
            let message = Message(time: time, content: content)
            slots.append(message)
            bytes += message.cost
            while slots.count - start > 1,
                slots.count - start > max(1, limits.messages) || bytes > limits.bytes
            {
                removeFirst()
            }
        }
    }

    /// Adds an event in the memory of all recordings; removes all messages if it is exhausted.
    mutating func add(_ event: WebSocketEvent, at time: Date, in memory: RecordingMemory) {
        let before = bytes
        add(event, at: time)
        if bytes <= before {
            memory.release(before - bytes)
        } else if !memory.take(bytes - before) {
            removeAll()
            memory.release(before)
        }
    }

    /// Removes all messages.
    package mutating func removeAll() {
        omitted = nextNumber
        (slots, start, bytes) = ([], 0, 0)
    }

    private mutating func removeFirst() {
        bytes -= slots[start]?.cost ?? 0
        slots[start] = nil
        start += 1
        omitted += 1
        if start > 64, start * 2 > slots.count {
            slots.removeFirst(start)
            start = 0
        }
    }
}
