import ErrandCore
import ErrandJSON
import ErrandRecording
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

@testable import ErrandInspector

/// The messages of a WebSocket in the inspector.
@Suite("Inspector: messages", .limited)
struct InspectedMessagesTests {
    /// Starts a recorded transfer; returns its capture and its number.
    private func start(_ fixture: InspectorFixture) throws -> (any RequestCapture, Int) {
        var description = fixture.description("/chat")
        let capture = fixture.recorder.willStart(&description, as: UUID())
        let url = try HTTPURL(parsing: "https://api.example.com/chat")
        return (capture, capture.transferStarted(TransportRequest(url: url), attempt: 1))
    }

    private func message(
        _ direction: WebSocketEvent.Message.Direction, _ payload: String?, isText: Bool = true
    ) -> WebSocketEvent {
        let bytes = payload.map { Data($0.utf8) }
        return .message(
            WebSocketEvent.Message(
                direction, isText: isText, bytes: Int64(bytes?.count ?? 9), bytesOnWire: 11,
                payload: bytes))
    }

    @Test func openConnectionIsShown() async throws {
        let fixture = InspectorFixture()
        let (capture, number) = try start(fixture)
        let before = fixture.recorder.revision
        capture.webSocket(.opened(subprotocol: "v2", extensions: "permessage-deflate"), number)
        #expect(fixture.recorder.revision > before, "a waiting page is called")
        capture.webSocket(message(.sent, #"{"token":"hunter2"}"#), number)
        capture.webSocket(message(.received, "\u{0}\u{1}", isText: false), number)
        capture.webSocket(message(.received, nil), number)
        capture.webSocket(.roundTrip(.milliseconds(3)), number)
        var reply = try await fixture.get("requests/1/messages")
        let messages = try #require(reply["messages"].array)
        #expect(messages.map { $0["data"].string } == [#"{"token":"REDACTED"}"#, "AAE=", nil])
        #expect(messages.map { $0["isSent"].bool } == [true, false, false])
        #expect(messages.map { $0["isText"].bool } == [true, false, true])
        #expect(messages.map { $0["number"].int } == [0, 1, 2])
        #expect(messages[0]["size"].int == 19 && messages[0]["onWire"].int == 11)
        #expect(messages[2]["comment"].string?.contains("not kept") == true)
        #expect(reply["subprotocol"].string == "v2" && reply["roundTrip"].double == 3)
        #expect(reply["closeCode"].int == nil && reply["next"].int == 3)
        #expect(reply["received"]["count"].int == 2)
        let detail = try await fixture.get("requests/1")
        #expect(detail["messageCount"].int == 3)
        // The next call has the new ones only.
        capture.webSocket(
            .closed(WebSocketClose(code: .goingAway, reason: "later", isClean: true)), number)
        capture.webSocket(message(.sent, "last"), number)
        reply = try await fixture.get("requests/1/messages", ["since": "3"])
        #expect(reply["messages"].array?.map { $0["data"].string } == ["last"])
        #expect(reply["closeCode"].int == 1001 && reply["closeReason"].string == "later")
        #expect(reply["isClean"].bool == true)
    }

    @Test func otherRequestHasNoMessages() async throws {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        await fixture.run("/a")
        _ = try await fixture.get("requests/1/messages", status: 404)
        #expect(try await fixture.get("requests/1")["messageCount"].int == nil)
    }

    /// Many messages arrive at the page in several replies.
    @Test func oldestMessagesAreRemoved() async throws {
        let fixture = InspectorFixture(limits: InspectorRecorder.Limits(messages: 300))
        let (capture, transfer) = try start(fixture)
        for number in 0..<1000 { capture.webSocket(message(.sent, "\(number)"), transfer) }
        var reply = try await fixture.get("requests/1/messages")
        #expect(reply["first"].int == 700 && reply["limit"].int == 300)
        #expect(reply["messages"].array?.count == 200 && reply["more"].bool == true)
        #expect(reply["messages"].array?.first?["data"].string == "700")
        let next = try #require(reply["next"].int)
        reply = try await fixture.get("requests/1/messages", ["since": "\(next)"])
        #expect(reply["messages"].array?.last?["data"].string == "999")
        #expect(reply["more"].bool == false && reply["sent"]["count"].int == 1000)
    }

    /// The messages of all connections count in the memory of bodies.
    @Test func memoryIsBounded() async throws {
        let limits = InspectorRecorder.Limits(bodyBytes: 100_000, memory: 250_000)
        let fixture = InspectorFixture(limits: limits)
        let text = String(repeating: "x", count: 1000)
        for _ in 0..<5 {
            let (capture, transfer) = try start(fixture)
            for _ in 0..<500 { capture.webSocket(message(.received, text), transfer) }
        }
        #expect(fixture.recorder.bodyBytes <= 250_000)
        let kept = fixture.recorder.records.map { record in
            record.request.transfers[0].messages.conversation?.bytes ?? 0
        }
        #expect(kept.reduce(0, +) <= 250_000 && kept.last ?? 0 > 50_000)
        #expect(kept.first == 0)
        let reply = try await fixture.get("requests/1/messages")
        #expect(reply["first"].int == 500 && reply["messages"].array?.isEmpty == true)
    }

    @Test func archiveOfThePageHasTheMessages() async throws {
        let fixture = InspectorFixture()
        let (capture, transfer) = try start(fixture)
        capture.webSocket(message(.sent, "hello"), transfer)
        capture.transferEnded(transfer, nil, nil, nil, Shared(TransferEnd()))
        let entry = try #require(try await fixture.get("har")["log"]["entries"].array?.first)
        #expect(entry["_resourceType"].string == "websocket")
        #expect(entry["_webSocketMessages"].array?.first?["data"].string == "hello")
        // The details do not contain them a second time.
        let detail = try await fixture.get("requests/1")
        #expect(detail["transfers"].array?.first?["entry"]["_webSocketMessages"].array == nil)
    }
}
