import Errand
import ErrandTesting
import Foundation
import Testing

@testable import Template

/// The endpoints with responses that each test writes; nothing is sent.
@Suite struct NotesTests {
    let transport = ScriptedTransport()
    let agent: RequestAgent

    init() {
        var configuration = TemplateRequest.service.configuration
        configuration.retryPolicy = .none
        agent = RequestAgent(configuration: configuration, transport: transport)
    }

    @Test func createsANote() async throws {
        transport.on(
            .post, "/v1/notes",
            .json(#"{"id": 7, "title": "Oil", "created_at": "2026-01-02T03:04:05Z"}"#))

        let note = try await CreateNote(title: "Oil").value(on: agent)

        #expect(note.id == 7 && note.title == "Oil")
        let body = try await transport.requests[0].body?.bytes()
        #expect(body == Data(#"{"title":"Oil"}"#.utf8))
    }

    @Test func refusesAResponseWithoutAnID() async throws {
        transport.on(.post, "/v1/notes", .json(#"{"title": "Oil"}"#))
        do {
            try await CreateNote(title: "Oil").value(on: agent)
            Issue.record("A note without an ID was accepted.")
        } catch {
            #expect(error.code == .shapeMismatch && error.shapeFault?.path == "$['id']")
        }
    }

    @Test func readsAllPages() async throws {
        let first = ScriptedResponse(
            headers: [.contentType: "application/json", .custom("Link"): "<?page=2>; rel=next"],
            body: Data(#"[{"id": 1, "title": "A", "created_at": "2026-01-02T03:04:05Z"}]"#.utf8))
        transport.on(.get, "/v1/notes", first, .json("[]"))

        var titles: [String] = []
        for try await note in FindNotes("a").items(on: agent) { titles.append(note.title) }

        #expect(titles == ["A"])
        #expect(transport.requests.count == 2)
    }

    @Test func aFailureHasTheMessageOfTheService() async throws {
        transport.on(.get, "/v1/notes/9", .json(#"{"message": "unknown"}"#, status: .notFound))
        do {
            try await GetNote(id: 9).value(on: agent)
            Issue.record("A note that does not exist was found.")
        } catch {
            #expect(error.serviceMessage == "unknown")
        }
    }
}

/// An endpoint with a response that was recorded once, in Cassettes/note.har.
///
/// To record it again, delete the file and use `.replayOrRecord(over: CurlTransport())` for one run.
@Suite struct RecordedNotesTests {
    @Test func readsANote() async throws {
        let cassette = try CassetteTransport("Cassettes/note.har", mode: .replay)
        let agent = RequestAgent(
            configuration: TemplateRequest.service.configuration, transport: cassette)

        let note = try await GetNote(id: 7).value(on: agent)

        #expect(note.title == "Change the oil")
        #expect(cassette.unusedRecordings.isEmpty)
    }
}
