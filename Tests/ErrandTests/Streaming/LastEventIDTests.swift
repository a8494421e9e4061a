import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The header `Last-Event-ID` of reconnections.
@Suite(.limited) struct LastEventIDTests {
    private let fixture = AgentFixture()

    private final class Custom: BaseRequest {
        let request: URLRequest
        init(_ request: URLRequest) { self.request = request }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.use(self.request)
        }
    }

    /// The ways in which an endpoint continues an earlier stream.
    enum Setting: CaseIterable, Sendable { case constant, custom, customURLRequest }

    @Test(arguments: Setting.allCases)
    func headerOfTheEndpointIsReplaced(setting: Setting) async throws {
        fixture.transport.on(
            .get, "/x", .events("data: a\n\n"), .events("id: 6\ndata: b\n\n"),
            .events("id\ndata: c\n\n"), .noContent)
        var custom = URLRequest(
            url: try #require(URL(string: "https://api.example.com/x")))
        custom.setValue("5", forHTTPHeaderField: "last-event-id")
        custom.setValue("y", forHTTPHeaderField: "X-Other")
        let request: BaseRequest =
            switch setting {
            case .constant: InlineRequest("x") { $0.headers[.lastEventID] = "5" }
            case .custom:
                InlineRequest("x") {
                    $0.headers = [.custom("LAST-EVENT-ID"): "5", .custom("X-Other"): "y"]
                }
            case .customURLRequest: Custom(custom)
            }
        let reader = try await fixture.startReading(request)
        // The first connection sends "5", and the server sends no other ID.
        for id in ["5", "6", nil] {
            try await fixture.sleep(exactly: .seconds(3))
            let next = try await fixture.transport.nextRequest()
            #expect(next.headers[.lastEventID] == id)
            #expect(next.headers[values: .lastEventID].count == (id == nil ? 0 : 1))
            let other = HTTPField.Name("X-Other").flatMap { next.headers[$0] }
            #expect(other == (setting == .constant ? nil : "y"))
        }
        #expect(fixture.transport.requests.first?.headers[.lastEventID] == "5")
        let events = await reader.value
        #expect(events.values.map(\.id) == ["5", "6", ""] && events.error == nil)
    }

    @Test func idOfAnyLanguageIsSent() async throws {
        fixture.transport.on(.get, "/x", .events("id: é日\ndata: a\n\n"), .noContent)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        let field = try await fixture.transport.nextRequest().headers[fields: .lastEventID].first
        #expect(field?.withUnsafeBytesOfValue { Array($0) } == Array("é日".utf8))
        #expect(await reader.value.error == nil)
    }

    /// A header cannot contain such an ID, or a server would refuse its size: the previous one is sent.
    @Test(arguments: [
        "a\u{1}", "\u{0}", "a\u{0}b", "\u{7F}", "\u{1B}[0m", String(repeating: "x", count: 4097),
        String(repeating: "é", count: 2049), String(repeating: "x", count: 1_000_000),
    ])
    func idThatNoHeaderCanCarryIsIgnored(id: String) async throws {
        fixture.transport.on(
            .get, "/x", .events("id: 5\ndata: a\n\nid: \(id)\ndata: b\n\n"), .noContent)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        #expect(try await fixture.nextID() == "5")
        let events = await reader.value
        #expect(events.error == nil)
        #expect(
            events.values == [
                ServerSentEvent(data: "a", id: "5"), ServerSentEvent(data: "b", id: "5"),
            ])
    }

    @Test(arguments: ["a\tb", String(repeating: "x", count: 4096), "a b", "\u{1F600}"])
    func idsUpToTheLimitAreSent(id: String) async throws {
        fixture.transport.on(.get, "/x", .events("id: \(id)\ndata: a\n\n"), .noContent)
        let reader = try await fixture.startReading()
        try await fixture.sleep(exactly: .seconds(3))
        let field = try await fixture.transport.nextRequest().headers[fields: .lastEventID].first
        #expect(field?.withUnsafeBytesOfValue { Array($0) } == Array(id.utf8))
        #expect(await reader.value.error == nil)
    }
}
