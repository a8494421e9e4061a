import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The sequence `serverSentEvents` of one connection.
@Suite(.limited) struct StreamedEventsTests {
    private let fixture = AgentFixture()

    private func events(
        _ text: String, type: String? = "text/event-stream", maximum: Int = 1 << 20,
        _ describe: (inout RequestDescription) -> Void = { _ in }
    ) async throws -> Elements<ServerSentEvent> {
        let stream = try await fixture.stream([Data(text.utf8)], type: type, describe)
        return await read(stream.serverSentEvents(reconnects: .never, maximumEventBytes: maximum))
    }

    @Test func everySplitOfABodyGivesTheSameEvents() async throws {
        let text =
            "\u{FEFF}: hello\r\nretry: 5\nid: 1\ndata: é😀\n\nevent: add\rdata: a\rdata: b\r\r"
            + "id\ndata\r\n\r\ndata: not complete\n"
        let found = try await fixture.readInEverySplit(
            Data(text.utf8), type: "text/event-stream"
        ) { await read($0.serverSentEvents(reconnects: .never)) }
        #expect(
            found.whole.values == [
                ServerSentEvent(data: "é😀", id: "1"),
                ServerSentEvent(type: "add", data: "a\nb", id: "1"), ServerSentEvent(data: ""),
            ])
        #expect(found.whole.error == nil && found.differing.isEmpty)
    }

    @Test(arguments: [
        "text/event-stream", "text/event-stream;", "TEXT/Event-Stream",
        "text/event-stream;charset=utf-8", "text/event-stream; charset=windows-1251; x=y",
    ])
    func contentTypeOfEventStreamsIsAccepted(type: String) async throws {
        // The encoding is always UTF-8.
        let found = try await events("data: é\n\n", type: type)
        #expect(found.values.map(\.data) == ["é"] && found.error == nil)
    }

    @Test(arguments: [
        "text/plain", "text/event-streams", "text/x-event-stream", "application/json", "", nil,
    ])
    func anotherContentTypeIsRefused(type: String?) async throws {
        let found = try await events("data: a\n\n", type: type)
        #expect(found.values.isEmpty && found.error?.code == .unacceptableContentType)
        #expect(found.error?.endpoint == "InlineRequest" && found.error?.response?.status == .ok)
        try await fixture.transport.untilIdle()
    }

    @Test func endpointCanAcceptAnotherContentType() async throws {
        let any = try await events("data: a\n\n", type: nil) {
            $0.acceptance.contentTypes = ["*/*"]
        }
        #expect(any.values.map(\.data) == ["a"] && any.error == nil)
        let named = try await events("data: a\n\n", type: "text/plain") {
            $0.acceptance.contentTypes = ["text/plain"]
        }
        #expect(named.values.map(\.data) == ["a"] && named.error == nil)
        // The types of the endpoint are checked before the body is read.
        await #expect(throws: RequestError.self) {
            try await events("data: a\n\n", type: "text/event-stream") {
                $0.acceptance.contentTypes = ["text/plain"]
            }
        }
    }

    @Test func eventAboveTheLimitIsAnErrorAndEndsTheTransfer() async throws {
        let found = try await events("data: 12345678\n\ndata: 123456789\n\ndata: 1\n\n", maximum: 8)
        #expect(found.values.map(\.data) == ["12345678"])
        #expect(found.error?.code == .bodyTooLarge)
        #expect(found.error?.message.contains("maximumEventBytes") == true)
        // An endless line fails without its end, and is not followed by a reconnection.
        let line = Data(String(repeating: "data: 1\n", count: 10).utf8)
        fixture.transport.on(
            .get, "/x",
            .chunks([line, line], type: "text/event-stream", then: [.hold(Gate())]))
        let stream = try await InlineRequest("x").stream(on: fixture.agent)
        let endless = await read(stream.serverSentEvents(maximumEventBytes: 30))
        #expect(endless.error?.code == .bodyTooLarge && endless.values.isEmpty)
        try await fixture.transport.untilIdle()
        #expect(fixture.transport.requestCount == 2 && fixture.clock.sleepers == 0)
    }

    @Test func interruptionWithoutReconnectionIsAnError() async throws {
        fixture.transport.on(.get, "/x", .events("data: a\n\ndata: b", then: [.interruption]))
        let stream = try await InlineRequest("x").stream(on: fixture.agent)
        let found = await read(stream.serverSentEvents(reconnects: .never))
        #expect(found.values.map(\.data) == ["a"])
        #expect(found.error?.code == .connectionLost && found.error?.bytesReceived == 16)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func leavingTheLoopEndsTheTransfer() async throws {
        fixture.transport.on(.get, "/x", .events("data: a\n\n", then: [.hold(Gate())]))
        let stream = try await InlineRequest("x").stream(on: fixture.agent)
        // An iterator that reads nothing leaves the stream to others.
        _ = stream.serverSentEvents.makeAsyncIterator()
        for try await _ in stream.serverSentEvents { break }
        try await fixture.transport.untilIdle()
        await stream.task.untilEnded()
        #expect(fixture.transport.requestCount == 1 && fixture.clock.sleepers == 0)
    }

    /// A body of the store is read like one from the network.
    @Test func eventsAreReadFromTheStore() async throws {
        func read() async throws -> (Response.Source, [String]) {
            let stream = try await fixture.stream(
                [Data("data: a\n\n".utf8)], type: "text/event-stream"
            ) { $0.cacheSeconds = 60 }
            let events = await ErrandTests.read(stream.serverSentEvents(reconnects: .never))
            await fixture.agent.flushCache()
            return (stream.response.source, events.values.map(\.data))
        }
        #expect(try await read() == (.network, ["a"]))
        #expect(try await read() == (.cacheFresh, ["a"]))
    }
}
