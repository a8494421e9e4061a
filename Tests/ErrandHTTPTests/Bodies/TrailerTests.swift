import ErrandCore
import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// Trailers are part of a body: they are checked, described and kept with it.
struct TrailerTests {
    private func body(_ names: [String], _ body: HTTPBody = .string("abc")) -> HTTPBody {
        body.trailers(names) { HeaderPairs(names.map { ($0, "hush") }) }
    }

    private func request(_ body: HTTPBody, to url: String = "https://a.example/x") throws
        -> TransportRequest
    {
        TransportRequest(method: .put, url: try HTTPURL(parsing: url), body: body)
    }

    @Test(arguments: [
        "Authorization", "content-length", "Content-Type", "Host", "Range", "TE", "Trailer",
        "Transfer-Encoding", "If-Match", "Cookie", "", "A B", "A\r\nB", "Ä",
    ])
    func nameThatMustNotBeATrailerIsRefused(name: String) throws {
        let error = #expect(throws: RequestError.self) {
            try request(body(["X-Good", name])).checkForMistakes()
        }
        #expect(error?.code == .invalidHeader && error?.stage == .build)
    }

    @Test func trailersWithoutNamesAreRefused() {
        #expect(throws: RequestError.self) { try request(body([])).checkForMistakes() }
    }

    @Test func namesAreAnnouncedOnce() throws {
        let body = body(["X-Sum", "x-sum", "X-Other"])
        #expect(body.trailerNames == ["X-Sum", "X-Other"])
        try request(body).checkForMistakes()
        #expect(self.body(["X-New"], body).trailerNames == ["X-New"])
        #expect(HTTPBody.string("abc").trailerNames.isEmpty)
    }

    @Test func descriptionsShowTheNames() throws {
        let body = body(["X-Sum", "X-Token"])
        #expect(
            body.description
                == "HTTPBody: 3 bytes, text/plain; charset=utf-8, trailers X-Sum, X-Token")
        var dumped = ""
        dump(try request(body), to: &dumped)
        #expect(dumped.contains("X-Sum") && !dumped.contains("hush"))
        #expect(
            try request(body).curlCommand().hasSuffix(
                "--data-raw '<body of 3 bytes>' # without the trailers: X-Sum, X-Token"))
    }

    @Test func changesOfTheBodyKeepTheTrailers() async throws {
        var request = try request(body(["X-Sum"]))
        try BodyCompression.apply(Doubling(), to: &request, endpoint: "Test", isEncoded: false)
        #expect(request.body?.trailerNames == ["X-Sum"])
        #expect(request.body?.knownLength == 6)
        let multipart = body(["X-Sum"], .multipart(MultipartBody([.text("a", "b")])))
        let added = try multipart.addingMultipartFields(["c": "d"], encoding: ArgumentEncoding())
        #expect(added.trailerNames == ["X-Sum"] && added.multipart?.parts.count == 2)
        let encoded = try body(["X-Sum"], .json(["a": 1])).encoded(by: .requestDefault)
        #expect(encoded.trailerNames == ["X-Sum"] && encoded.knownLength == 7)
    }

    private struct Doubling: BodyEncoder {
        var contentCoding: String { "double" }
        func encode(_ data: Data) throws -> Data { data + data }
    }

    @Test func requestWithTrailersIsNotEncoded() {
        let request = CustomRequest(
            url: "https://a.example/", method: .put, headers: [], body: body(["X-Sum"]))
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(request) }
    }

    // MARK: - Redirects

    private func redirected(to location: String, _ request: TransportRequest) throws
        -> TransportRequest
    {
        let response = Response(
            status: .temporaryRedirect, headers: [.location: location], body: .data(Data()),
            url: request.url)
        let decision = RedirectDecision.decide(
            response: response, request: request, visited: [], policy: RedirectPolicy())
        guard case .follow(let next) = decision else { throw Stopped() }
        return next
    }

    private struct Stopped: Error {}

    private func fields(of body: HTTPBody?) async throws -> [String] {
        guard let source = body?.trailerSource else { return [] }
        return try await source.fields(source.makeProducer()).map(\.name.rawName)
    }

    @Test func redirectKeepsTheTrailersForTheOrigin() async throws {
        let next = try redirected(to: "/y", try request(body(["X-Sum", "X-Token"])))
        #expect(next.body?.trailerNames == ["X-Sum", "X-Token"])
        #expect(try await fields(of: next.body) == ["X-Sum", "X-Token"])
    }

    @Test func credentialsInTrailersStayAtTheOrigin() async throws {
        let original = try request(body(["X-Sum", "X-Token"]))
        let next = try redirected(to: "https://b.example/", original)
        #expect(next.body?.trailerNames == ["X-Sum"])
        #expect(try await fields(of: next.body) == ["X-Sum"])
        let secret = try request(body(["X-Token"]))
        #expect(try redirected(to: "https://b.example/", secret).body?.trailerSource == nil)
        // A decider may send the original to another origin.
        var wanted = original
        wanted.url = try HTTPURL(parsing: "https://b.example/")
        let response = Response(status: .found, headers: [:], body: .data(Data()), url: wanted.url)
        let decision = RedirectDecision.replacing(
            by: wanted, response: response, request: original, visited: [],
            policy: RedirectPolicy())
        guard case .follow(let replaced) = decision else { throw Stopped() }
        #expect(replaced.body?.trailerNames == ["X-Sum"])
    }
}
