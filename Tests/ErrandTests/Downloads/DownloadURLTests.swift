import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Downloads whose attempts have different URLs, by a request processor or by `urlRefresh`.
@Suite(.limited) struct DownloadURLTests {
    private let temporary: TemporaryFolder
    private let content = Data((0..<100).map { UInt8($0) })
    private var file: URL { temporary.url.appendingPathComponent("file") }

    init() throws { temporary = try TemporaryFolder("download-url") }

    private func download(
        on fixture: AgentFixture, _ change: (inout RequestDescription) -> Void
    ) async throws {
        var description = RequestDescription(endpoint: "Download", url: "file")
        description.download = DownloadPlan(to: file)
        change(&description)
        _ = try await fixture.agent.start(description).response()
        #expect(try Data(contentsOf: file) == content)
    }

    private func fixture() -> AgentFixture {
        AgentFixture { $0.retryPolicy = RetryPolicy(maximumAttempts: 4, baseDelay: .zero) }
    }

    /// The bytes from an offset, of which the connection loses those after `end`.
    private func part(from start: Int, to end: Int, tag: String?, isWrong: Bool = false)
        -> ScriptedResponse
    {
        var headers: HTTPFields = [.acceptRanges: "bytes"]
        headers[.eTag] = tag
        if start > 0 { headers[.contentRange] = "bytes \(start)-99/100" }
        let head = ResponseHead(
            status: start > 0 ? .partialContent : .ok, headers: headers,
            contentLength: Int64(100 - start))
        let bytes = isWrong ? Data(count: end - start) : content[start..<end]
        var steps: [ScriptedResponse.Step] = [.head(head), .bytes(Data(bytes))]
        if end < 100 {
            steps.append(.fail(RequestError(.connectionLost, stage: .transport, "cut")))
        }
        return ScriptedResponse(steps: steps)
    }

    private func ranges(_ fixture: AgentFixture) -> [String] {
        fixture.transport.requests.map { $0.headers[.range] ?? "-" }
    }

    private func queries(_ fixture: AgentFixture) -> [String] {
        fixture.transport.requests.map { $0.url.query ?? "-" }
    }

    @Test func everyAttemptHasTheURLOfItsProcessors() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .get, "/file", part(from: 0, to: 40, tag: "\"1\""),
            part(from: 40, to: 70, tag: "\"1\""),
            part(from: 70, to: 100, tag: "\"1\""))
        try await download(on: fixture) {
            $0.requestProcessors = [
                { request, _, attempt in request.url.query = "signature=\(attempt)" }
            ]
        }
        #expect(queries(fixture) == ["signature=1", "signature=2", "signature=3"])
        #expect(ranges(fixture) == ["-", "bytes=40-", "bytes=70-"])
    }

    /// A part without a validator would do for the same URL.
    @Test func partOfAnotherURLMustConfirmTheVersion() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .get, "/file", part(from: 0, to: 40, tag: "\"1\""),
            part(from: 40, to: 100, tag: nil, isWrong: true), part(from: 0, to: 100, tag: "\"1\""))
        try await download(on: fixture) {
            $0.requestProcessors = [
                { request, _, attempt in request.url.query = "signature=\(attempt)" }
            ]
        }
        #expect(queries(fixture) == ["signature=1", "signature=2", "signature=2"])
        #expect(ranges(fixture) == ["-", "bytes=40-", "-"])
    }

    /// The bytes of the second attempt are those of another URL.
    @Test func firstURLMustConfirmTheVersionAfterAnotherOne() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .get, "/file", part(from: 0, to: 40, tag: "\"1\""),
            part(from: 40, to: 70, tag: "\"1\""),
            part(from: 70, to: 100, tag: nil, isWrong: true), part(from: 0, to: 100, tag: "\"1\""))
        try await download(on: fixture) {
            $0.requestProcessors = [
                { request, _, attempt in request.url.query = "mirror=\(attempt % 2)" }
            ]
        }
        #expect(queries(fixture) == ["mirror=1", "mirror=0", "mirror=1", "mirror=1"])
        #expect(ranges(fixture) == ["-", "bytes=40-", "bytes=70-", "-"])
    }

    /// A redirect to another origin has the same effect.
    @Test(arguments: ["https://cdn.example.com/file", "https://api.example.com/other"])
    func authenticatorAddsNothingForAnotherOrigin(replacement: String) async throws {
        let fixture = AgentFixture { $0.authenticators = ["*.example.com": .bearer("secret")] }
        let content = content
        fixture.transport.respond { request in
            request.url.string == "https://api.example.com/file"
                ? ScriptedResponse(status: .forbidden) : ScriptedResponse(body: content)
        }
        try await download(on: fixture) { $0.download?.urlRefresh = { _ in replacement } }
        let sent = fixture.transport.requests.map { $0.headers[.authorization] }
        #expect(sent == ["Bearer secret", replacement.contains("cdn") ? nil : "Bearer secret"])
    }
}
