import ErrandHTTP
import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

/// Redirects of RFC 9110 §15.4.
@Suite struct RFC9110RedirectTests {
    /// A redirect that drops the body drops the content fields too.
    @Test func section154ContentFieldsAreRemovedWithTheBody() throws {
        var request = TransportRequest(
            method: .post, url: try HTTPURL(parsing: "https://a.example/x"), body: .string("x"))
        let contentFields = [
            "Content-Type", "Content-Encoding", "Content-Language", "Content-Location",
            "Content-Digest", "Repr-Digest", "Digest", "Last-Modified", "Content-MD5", "Expect",
        ]
        for name in contentFields { request.headers.append(try field(name, "x")) }
        request.headers.append(try field("Accept", "text/html"))
        for (status, keepsBody) in [
            (301, false), (302, false), (303, false), (307, true), (308, true),
        ] {
            let next = try follow(request, status: status, to: "/y")
            #expect((next.body != nil) == keepsBody)
            let left = next.headers.map(\.name.rawName)
            #expect(left == (keepsBody ? contentFields : []) + ["Accept"])
        }
    }

    @Test(arguments: ["///x", "http:x", "https:/x", "http://", "https://:80/"])
    func section154RedirectWithoutAHostIsRejected(location: String) throws {
        let request = TransportRequest(url: try HTTPURL(parsing: "https://a.example/x"))
        let error = #expect(throws: RequestError.self) {
            try follow(request, status: 302, to: location)
        }
        #expect(error?.code == .unsafeRedirect)
        #expect(error?.message.contains("without a host") == true)
    }

    private func field(_ name: String, _ value: String) throws -> HTTPField {
        HTTPField(name: try #require(HTTPField.Name(name)), value: value)
    }

    private func follow(
        _ request: TransportRequest, status: Int, to location: String
    ) throws -> TransportRequest {
        let response = Response(
            status: HTTPResponse.Status(code: status), headers: [.location: location],
            url: request.url)
        switch RedirectDecision.decide(
            response: response, request: request, visited: [request.url], policy: .follow)
        {
        case .follow(let next): return next
        case .fail(let error): throw error
        case .deliver:
            Issue.record("The redirect was not followed.")
            return request
        }
    }
}
