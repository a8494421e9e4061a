import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// The sequences `lines`, `rawLines` and `bytes` of a streamed response.
@Suite(.limited) struct StreamedLinesTests {
    private let fixture = AgentFixture()

    private static let texts: [(text: String, lines: [String])] = [
        ("one\ntwo\nthree", ["one", "two", "three"]),
        ("one\r\ntwo\r\nthree\r\n", ["one", "two", "three"]),
        ("one\rtwo\rthree\r", ["one", "two", "three"]),
        ("a\r\n\nb\n\r\n\rc\r\r\nd", ["a", "", "b", "", "", "c", "", "d"]),
        ("é€😀\r\n日本\u{2028}x", ["é€😀", "日本\u{2028}x"]),
        ("\u{FEFF}one", ["\u{FEFF}one"]), ("\n", [""]), ("", []), ("one", ["one"]),
    ]

    @Test(arguments: texts)
    func everySplitOfABodyGivesTheSameLines(text: String, lines: [String]) async throws {
        let body = Data(text.utf8)
        let found = try await fixture.readInEverySplit(body) { await read($0.lines) }
        #expect(found.whole.values == lines && found.whole.error == nil)
        #expect(found.differing.isEmpty)
        let raw = try await fixture.readInEverySplit(body) { await read($0.rawLines) }
        #expect(raw.whole.values == lines.map { Data($0.utf8) } && raw.differing.isEmpty)
    }

    @Test func invalidUTF8IsAnErrorOfItsLineAndTheNextOneFollows() async throws {
        let body = Data("one\n".utf8) + [0xFF, 0x0A] + Data("three\n".utf8) + [0xC3]
        for index in body.indices.dropFirst() {
            let stream = try await fixture.stream(
                [body[..<index], body[index...]].map { Data($0) })
            var iterator = stream.lines.makeAsyncIterator()
            #expect(try await iterator.next() == "one")
            let second = await error(of: &iterator)
            #expect(second?.code == .undecodable && second?.endpoint == "InlineRequest")
            #expect(second?.message.contains("Line 2 of the body is not valid UTF-8") == true)
            #expect(second?.response?.status == .ok)
            #expect(try await iterator.next() == "three")
            #expect(await error(of: &iterator)?.message.contains("Line 4") == true)
            #expect(try await iterator.next() == nil)
        }
    }

    private func error(of iterator: inout ResponseStream.Lines.Iterator) async -> RequestError? {
        do {
            let line = try await iterator.next()
            Issue.record("There was no error but \(line ?? "the end").")
            return nil
        } catch {
            return error
        }
    }

    @Test func invalidUTF8IsReplacedOrReadAsBytes() async throws {
        let body = Data([0x61, 0xFF, 0x0A, 0xC3])
        let replaced = try await fixture.readInEverySplit(body) {
            await read($0.lines(replacesInvalidUTF8: true))
        }
        #expect(replaced.whole.values == ["a\u{FFFD}", "\u{FFFD}"] && replaced.differing.isEmpty)
        let raw = try await fixture.readInEverySplit(body) { await read($0.rawLines) }
        #expect(raw.whole.values == [Data([0x61, 0xFF]), Data([0xC3])] && raw.differing.isEmpty)
    }

    @Test(arguments: ["12345678\n123456789\n1\n", "12345678\r\n123456789"])
    func lineAboveTheLimitIsAnErrorAfterTheLinesBeforeIt(text: String) async throws {
        let found = try await fixture.readInEverySplit(Data(text.utf8)) {
            await read($0.lines(maximumLineBytes: 8))
        }
        #expect(found.whole.values == ["12345678"] && found.differing.isEmpty)
        #expect(found.whole.error?.code == .bodyTooLarge)
        #expect(found.whole.error?.message.contains("exceeds the limit of 8 bytes") == true)
        let raw = try await fixture.readInEverySplit(Data(text.utf8)) {
            await read($0.rawLines(maximumLineBytes: 8))
        }
        #expect(raw.whole.error?.code == .bodyTooLarge && raw.differing.isEmpty)
    }

    @Test func lineAboveTheLimitEndsTheTransferWhenTheLoopIsLeft() async throws {
        fixture.transport.on(
            .get, "/x", .chunks([Data("too long".utf8)], then: [.hold(Gate())]))
        let stream = try await InlineRequest("x").stream(on: fixture.agent)
        let found = await read(stream.lines(maximumLineBytes: 3))
        #expect(found.error?.code == .bodyTooLarge && found.error?.bytesReceived == 8)
        try await fixture.transport.untilIdle()
        await stream.task.untilEnded()
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func chunksAreNotEmptyAndFormTheBody() async throws {
        let chunks = ["on", "e\ntw", "o"].map { Data($0.utf8) }
        let found = await read(try await fixture.stream(chunks).bytes)
        #expect(found.values.reduce(Data(), +) == Data("one\ntwo".utf8))
        #expect(found.values.allSatisfy { !$0.isEmpty } && found.error == nil)
        #expect(await read(try await fixture.stream([]).bytes).values.isEmpty)
    }

    @Test func secondReadOfAStreamIsRefused() async throws {
        let stream = try await fixture.stream([Data("one\n".utf8)])
        #expect(await read(stream.lines).values == ["one"])
        let second = await read(stream.rawLines)
        #expect(second.values.isEmpty && second.error?.code == .invalidCombination)
        #expect(second.error?.message.contains("The stream was read before") == true)
    }

    // MARK: - The store

    @Test(arguments: [false, true])
    func bodyFromTheStoreHasTheSameLines(followsHTTP: Bool) async throws {
        let head = ResponseHead(
            status: .ok, headers: [.cacheControl: "max-age=60", .contentType: "text/plain"])
        fixture.transport.on(
            .get, "/x",
            ScriptedResponse(steps: [
                .head(head), .bytes(Data("one\r".utf8)), .bytes(Data("\ntwo".utf8)),
            ]))
        func open() async throws -> ResponseStream {
            try await InlineRequest("x") {
                if followsHTTP { $0.cache.policy = .http } else { $0.cacheSeconds = 60 }
            }.stream(on: fixture.agent)
        }
        let first = try await open()
        #expect(first.response.source == .network)
        #expect(await read(first.lines).values == ["one", "two"])
        await fixture.agent.flushCache()
        let second = try await open()
        #expect(second.response.source == .cacheFresh)
        #expect(await read(second.lines) == Elements(values: ["one", "two"]))
        let third = await read(try await open().bytes)
        #expect(third.values.reduce(Data(), +) == Data("one\r\ntwo".utf8))
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func streamThatIsLeftBeforeItsLastByteIsNotStored() async throws {
        let part = Data("one\ntwo\n".utf8)
        fixture.transport.on(.get, "/x", .chunks([part], then: [.hold(Gate())]))
        for _ in 0..<2 {
            let stream = try await InlineRequest("x") { $0.cacheSeconds = 60 }.stream(
                on: fixture.agent)
            #expect(stream.response.source == .network)
            for try await _ in stream.lines { break }
            await stream.task.untilEnded()
            await fixture.agent.flushCache()
        }
        #expect(fixture.transport.requestCount == 2)
    }

    /// The background request of `stale-while-revalidate` has no reader: it collects the body.
    @Test func staleStreamIsRevalidatedInTheBackground() async throws {
        func head(_ text: String) -> ScriptedResponse {
            ScriptedResponse(
                headers: [
                    .cacheControl: "max-age=10, stale-while-revalidate=60",
                    .contentType: "text/plain",
                ], body: Data(text.utf8))
        }
        fixture.transport.on(.get, "/x", head("one\n"), head("two\n"))
        func lines() async throws -> [String] {
            let request = InlineRequest("x") { $0.cache.policy = .http }
            return await read(try await request.stream(on: fixture.agent).lines).values
        }
        #expect(try await lines() == ["one"])
        await fixture.agent.flushCache()
        fixture.clock.advance(by: .seconds(11))
        #expect(try await lines() == ["one"])
        for task in fixture.agent.activeTasks { await task.untilEnded() }
        await fixture.agent.flushCache()
        #expect(try await lines() == ["two"])
        #expect(fixture.transport.requestCount == 2)
    }
}
