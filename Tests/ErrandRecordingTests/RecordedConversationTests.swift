import ErrandCore
import Foundation
import TestSupport
import Testing

@testable import ErrandRecording

/// The messages of a WebSocket that a recording keeps.
@Suite(.limited) struct RecordedConversationTests {
    private let time = Date(timeIntervalSince1970: 1000)

    private func message(
        _ direction: WebSocketEvent.Message.Direction = .received, _ count: Int = 10
    ) -> WebSocketEvent {
        .message(
            WebSocketEvent.Message(
                direction, isText: true, bytes: Int64(count), bytesOnWire: Int64(count + 2),
                payload: Data(repeating: 0x61, count: count)))
    }

    private func conversation(_ messages: Int, _ bytes: Int) -> RecordedConversation {
        RecordedConversation(RecordedConversation.Limits(messages: messages, bytes: bytes))
    }

    @Test func latestMessagesAreKept() {
        var conversation = conversation(100, 1 << 20)
        for _ in 0..<1000 { conversation.add(message(), at: time) }
        #expect(conversation.omitted == 900 && conversation.nextNumber == 1000)
        #expect(conversation.messages().map(\.number) == Array(900..<1000))
        #expect(conversation.messages(from: 997).map(\.number) == [997, 998, 999])
        #expect(conversation.messages(from: 5).count == 100)
        #expect(conversation.messages(from: 1000).isEmpty)
        #expect(conversation.bytes == 100 * 138)
    }

    @Test func bytesAreBounded() {
        var conversation = conversation(1000, 10_000)
        for _ in 0..<50 { conversation.add(message(.sent, 1000), at: time) }
        #expect(conversation.bytes <= 10_000 && conversation.messages().count == 8)
        // A message that is larger than half of the memory loses its payload, and removes no other one.
        conversation.add(message(.received, 6000), at: time)
        #expect(conversation.messages().count == 9)
        #expect(conversation.messages().last?.message.content.payload == nil)
        #expect(conversation.messages().last?.message.content.bytes == 6000)
        #expect(conversation.totals[.sent]?.count == 50)
        #expect(conversation.totals[.sent]?.bytes == 50_000)
        #expect(conversation.totals[.received]?.bytes == 6000)
    }

    @Test func memoryOfAllRecordingsIsBounded() {
        let memory = RecordingMemory(limit: 1000)
        var conversation = conversation(1000, 10_000)
        for _ in 0..<3 { conversation.add(message(.sent, 100), at: time, in: memory) }
        #expect(memory.bytesInUse == conversation.bytes && conversation.bytes == 3 * 228)
        conversation.add(message(.sent, 400), at: time, in: memory)
        #expect(memory.bytesInUse == 0 && conversation.bytes == 0)
        #expect(conversation.omitted == 4 && conversation.nextNumber == 4)
        conversation.add(message(.sent, 100), at: time, in: memory)
        #expect(memory.bytesInUse == 228 && conversation.messages().map(\.number) == [4])
    }

    @Test func endAndRoundTripAreKept() {
        var conversation = conversation(10, 10_000)
        conversation.add(.opened(subprotocol: "v2", extensions: "x"), at: time)
        conversation.add(.roundTrip(.milliseconds(3)), at: time)
        conversation.add(
            .closed(WebSocketClose(code: .goingAway, reason: "later", isClean: true)), at: time)
        #expect(conversation.subprotocol == "v2" && conversation.extensions == "x")
        #expect(conversation.roundTrip == .milliseconds(3))
        #expect(conversation.close?.code == .goingAway && conversation.messages().isEmpty)
    }

    private func written(
        _ payload: String, isText: Bool = true, _ rules: RedactionRules = .standard,
        limit: Int = 1000
    ) -> HAR.WebSocketMessage {
        var conversation = conversation(10, 10_000)
        let data = Data(payload.utf8)
        conversation.add(
            .message(
                WebSocketEvent.Message(
                    .sent, isText: isText, bytes: Int64(data.count), bytesOnWire: 1, payload: data)
            ), at: time)
        let writer = MessageWriter(rules: rules, maximumBodyBytes: limit)
        return writer.webSocketMessage(conversation.messages()[0].message)
    }

    @Test func messagesAreWrittenAsChromiumDoes() throws {
        let text = written("hello")
        #expect(text.type == "send" && text.time == 1000 && text.opcode == 1)
        #expect(text.data == "hello" && text.comment == nil)
        let binary = written("\u{0}b", isText: false)
        #expect(binary.opcode == 2 && binary.data == "AGI=")
        let json = try JSONEncoder().encode(text)
        let members = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(Set(members.keys) == ["type", "time", "opcode", "data"])
    }

    @Test func secretsOfMessagesAreReplaced() throws {
        #expect(written(#"{"password":"hunter2"}"#).data == #"{"password":"REDACTED"}"#)
        #expect(written("token=hunter2&a=1").data == "token=REDACTED&a=1")
        // JSON in a binary message, too.
        let bytes = Data(base64Encoded: written(#"{"token":"hunter2"}"#, isText: false).data)
        #expect(try String(decoding: #require(bytes), as: UTF8.self) == #"{"token":"REDACTED"}"#)
        // Broken JSON with the name of a secret.
        let withheld = written(#"{"password":"hunter2"#)
        #expect(withheld.data.isEmpty && withheld.comment?.contains("secrets") == true)
        var rules = RedactionRules.standard
        rules.body = { _, _ in nil }
        #expect(written("hello", rules).comment?.contains("withheld") == true)
        #expect(written("hello", limit: 4).comment?.contains("exceeds") == true)
    }

    @Test func chromiumsArchiveIsRead() throws {
        let text = #"""
            {"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},"entries":[{
            "startedDateTime":"2026-01-01T00:00:00.000Z","time":12,"_resourceType":"websocket",
            "request":{"method":"GET","url":"wss://a.example/x"},"response":{"status":101},
            "_webSocketMessages":[{"type":"send","time":1767225600.5,"opcode":1,"data":"hi"},
            {"type":"receive","time":1767225600.75,"opcode":2,"data":"AAE="},
            {"type":"error","time":1767225601,"opcode":-1,"data":"Connection closed"}]}]}}
            """#
        let archive = try JSONDecoder().decode(HAR.self, from: Data(text.utf8))
        let entry = try #require(archive.log.entries.first)
        #expect(entry.resourceType == "websocket")
        #expect(entry.webSocketMessages?.map(\.type) == ["send", "receive", "error"])
        #expect(entry.webSocketMessages?.map(\.data) == ["hi", "AAE=", "Connection closed"])
        #expect(entry.webSocketMessages?.first?.time == 1_767_225_600.5)
    }
}
