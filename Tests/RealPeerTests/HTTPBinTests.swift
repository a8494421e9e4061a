import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Endpoint requests to httpbin (run by gunicorn), over both transports.
@Suite("Real peers: httpbin", .limited)
struct HTTPBinTests {
    enum TransportKind: String, CaseIterable, Sendable {
        case curl, urlSession

        func agent(_ change: (inout Configuration) -> Void = { _ in }) throws -> RequestAgent {
            let peers = try Peers.get()
            var configuration = Configuration(
                baseURL: peers.endpoint(.httpbin, host: "127.0.0.1", "/"))
            change(&configuration)
            let transport: any Transport =
                self == .curl
                ? CurlTransport() : URLSessionTransport(configuration: .ephemeral)
            return RequestAgent(configuration: configuration, transport: transport, store: nil)
        }
    }

    private func send(
        _ path: String, _ agent: RequestAgent,
        _ configure: (inout RequestDescription) -> Void = { _ in }
    ) async throws -> Response {
        try await InlineRequest(EndpointURL(raw: path), configure).send(on: agent)
    }

    @Test(arguments: TransportKind.allCases)
    func argumentsAreSentInQueryAndBody(kind: TransportKind) async throws {
        let agent = try kind.agent()
        let get = try await send("get", agent) { $0.arguments = ["name": "a b&c", "ü": 1] }
        #expect(get.json["args"]["name"].string == "a b&c")
        #expect(get.json["args"]["ü"].string == "1")
        for method in [HTTPMethod.post, .put, .patch] {
            let form = try await send(method.rawValue.lowercased(), agent) {
                $0.method = method
                $0.arguments = ["name": "a b&c", "list": [1, 2]]
            }
            #expect(form.json["form"]["name"].string == "a b&c")
            let json = try await send(method.rawValue.lowercased(), agent) {
                $0.method = method
                $0.requestSerializer = .json
                $0.arguments = ["name": "ä", "number": 1.5, "nothing": String?.none]
            }
            #expect(json.json["json"]["name"].string == "ä")
            #expect(json.json["json"]["number"].double == 1.5)
        }
        let delete = try await send("delete", agent) {
            $0.method = .delete
            $0.arguments = ["id": 7]
        }
        #expect(delete.json["args"]["id"].string == "7")
    }

    @Test(arguments: TransportKind.allCases)
    func multipartBodyIsParsed(kind: TransportKind) async throws {
        let agent = try kind.agent()
        let response = try await send("post", agent) {
            $0.method = .post
            $0.body = .multipart([
                .text("title", "größer"),
                .data("file", Data("content".utf8), filename: "a.txt"),
            ])
        }
        #expect(response.json["form"]["title"].string == "größer")
        #expect(response.json["files"]["file"].string == "content")
    }

    @Test(arguments: TransportKind.allCases, ["gzip", "deflate", "brotli"])
    func contentEncodingsAreDecoded(kind: TransportKind, name: String) async throws {
        let response = try await send(name, kind.agent()) { description in
            // On Linux, this transport accepts encoded responses only if the request does.
            guard kind == .urlSession else { return }
            description.headers[.acceptEncoding] = name == "brotli" ? "br" : name
        }
        #expect(
            response.json[name == "gzip" ? "gzipped" : name == "deflate" ? "deflated" : name].bool
                == true)
    }

    @Test(arguments: TransportKind.allCases)
    func redirectsAreFollowed(kind: TransportKind) async throws {
        let agent = try kind.agent()
        for path in ["redirect/5", "relative-redirect/3", "absolute-redirect/3"] {
            let response = try await send(path, agent)
            #expect(response.json["url"].string?.hasSuffix("/get") == true)
        }
        let kept = try await send("redirect-to", agent) {
            $0.method = .post
            $0.argumentPlacement = .query
            $0.arguments = ["url": "/post", "status_code": 307]
            $0.body = .string("the body")
        }
        #expect(kept.json["data"].string == "the body")
        let error = await #expect(throws: RequestError.self) {
            try await send("redirect/5", agent) {
                $0.sending.redirects = RedirectPolicy(maximumCount: 3)
            }
        }
        #expect(error?.code == .tooManyRedirects)
    }

    @Test(arguments: TransportKind.allCases)
    func cookiesAreStoredAndSent(kind: TransportKind) async throws {
        let agent = try kind.agent()
        let set = try await send("cookies/set", agent) { $0.arguments = ["flavour": "oat"] }
        #expect(set.json["cookies"]["flavour"].string == "oat")
        let later = try await send("cookies", agent)
        #expect(later.json["cookies"]["flavour"].string == "oat")
        let without = try await send("cookies", agent) { $0.uses.remove(.cookies) }
        #expect(without.json["cookies"]["flavour"].string == nil)
    }

    @Test(arguments: TransportKind.allCases)
    func unacceptableStatusesAndContentTypesFail(kind: TransportKind) async throws {
        let agent = try kind.agent()
        for status in [400, 404, 418, 500, 503] {
            let error = await #expect(throws: RequestError.self) {
                try await send("status/\(status)", agent)
            }
            #expect(error?.code == .unacceptableStatus && error?.status?.code == status)
        }
        let error = await #expect(throws: RequestError.self) {
            try await send("html", agent) { $0.acceptance.format = .json }
        }
        #expect(error?.code == .unacceptableContentType)
        let html = try await send("html", agent) {
            $0.acceptance.format = .text
            $0.acceptance.contentTypes = ["text/html"]
        }
        #expect(html.string?.contains("Herman Melville") == true)
    }

    @Test(arguments: TransportKind.allCases)
    func binaryAndRangeResponses(kind: TransportKind) async throws {
        let agent = try kind.agent()
        for path in ["bytes/50000", "stream-bytes/50000"] {
            let response = try await send(path, agent) {
                $0.acceptance.format = .any
                $0.arguments = ["seed": 1]
            }
            #expect(response.data.count == 50_000)
        }
        let range = try await send("range/10000", agent) {
            $0.acceptance.format = .any
            $0.headers = [.range: "bytes=100-199"]
        }
        #expect(range.status == .partialContent && range.data.count == 100)
    }

    @Test(arguments: TransportKind.allCases)
    func idleTimeoutFails(kind: TransportKind) async throws {
        let agent = try kind.agent()
        let error = await #expect(throws: RequestError.self) {
            try await send("delay/10", agent) {
                $0.timeouts = Timeouts(connect: .seconds(20), idle: .milliseconds(300))
            }
        }
        #expect(error?.code == .timedOut && error?.timeout == .idle)
    }

    @Test(arguments: TransportKind.allCases)
    func downloadWritesTheFile(kind: TransportKind) async throws {
        let peers = try Peers.get()
        let agent = try kind.agent()
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        final class Download: BaseRequest, FileOutput {
            var address = ""
            var file = URL(fileURLWithPath: "/")
            override var url: EndpointURL { EndpointURL(raw: address) }
            var download: DownloadPlan { .to(file) }
        }
        let download = Download()
        download.address = peers.url(.nginxPlain, host: "127.0.0.1", "/large")
        download.file = file
        _ = try await download.value(on: agent)
        let expected = Peers.largeBody
        #expect(try haveSameBytes(Data(contentsOf: file), expected))
    }

    /// FoundationNetworking accepts the system's authorities only.
    @Test func urlSessionRejectsUnknownAuthorities() async throws {
        let peers = try Peers.get()
        let agent = try TransportKind.urlSession.agent()
        let error = await #expect(throws: RequestError.self) {
            try await send(peers.url(.nginxTLS), agent)
        }
        #expect(error?.code == .certificateRejected)
    }
}
