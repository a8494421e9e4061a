import ErrandHTTP
import ErrandRecording
import ErrandSystem

/// The messages of a WebSocket, as JSON; without secrets.
struct InspectedMessages: Sendable, Encodable {
    /// A message.
    struct Message: Sendable, Encodable {
        /// The number, from 0.
        var number: Int
        var isSent: Bool
        var isText: Bool
        /// The number of messages that were combined, usually 1.
        var count: Int
        /// The time, in milliseconds since 1970.
        var time: Double
        /// The bytes before compression.
        var size: Int64
        /// The bytes in frames.
        var onWire: Int64
        /// The text, or the bytes in base64; `nil` if they are not kept.
        var data: String?
        /// Why the payload is missing.
        var comment: String?
    }

    /// The numbers of messages and bytes of one direction.
    struct Total: Sendable, Encodable {
        var count = 0
        var bytes: Int64 = 0
    }

    /// The number of the first message that is kept; those before it were removed.
    var first: Int
    /// The number for the next call.
    var next: Int
    /// Whether the next call returns further messages at once.
    var more: Bool
    /// The largest number of messages that are kept.
    var limit: Int
    var messages: [Message]
    var sent: Total
    var received: Total
    var subprotocol: String?
    var extensions: String?
    /// The last round trip, in milliseconds.
    var roundTrip: Double?
    /// The code of the end; `nil` while the connection is open.
    var closeCode: Int?
    var closeReason: String?
    var isClean: Bool?

    /// The limits of one reply.
    static let maximumMessages = 200
    static let maximumBytes = 1 << 20

    init(
        _ conversation: RecordedConversation, from number: Int, limit: Int, _ writer: MessageWriter
    ) {
        self.limit = limit
        first = conversation.omitted
        messages = []
        next = max(number, first)
        var bytes = 0
        for (number, message) in conversation.messages(from: number) {
            guard messages.count < Self.maximumMessages, bytes < Self.maximumBytes else { break }
            let written = Message(number, message, writer)
            messages.append(written)
            bytes += written.data?.utf8.count ?? 0
            next = number + 1
        }
        more = next < conversation.nextNumber
        sent = Total(conversation.totals[.sent])
        received = Total(conversation.totals[.received])
        subprotocol = conversation.subprotocol
        extensions = conversation.extensions
        roundTrip = conversation.roundTrip.map { $0 / .milliseconds(1) }
        closeCode = conversation.close.map { Int($0.code.rawValue) }
        closeReason = conversation.close?.reason
        isClean = conversation.close?.isClean
    }
}

extension InspectedMessages.Message {
    init(_ number: Int, _ message: RecordedConversation.Message, _ writer: MessageWriter) {
        let content = message.content
        let written = writer.webSocketMessage(message)
        self.init(
            number: number, isSent: content.direction == .sent, isText: content.isText,
            count: content.count, time: message.time.timeIntervalSince1970 * 1000,
            size: content.bytes, onWire: content.bytesOnWire,
            data: written.comment == nil ? written.data : nil, comment: written.comment)
    }
}

extension InspectedMessages.Total {
    fileprivate init(_ total: (count: Int, bytes: Int64)?) {
        if let total { self.init(count: total.count, bytes: total.bytes) } else { self.init() }
    }
}
