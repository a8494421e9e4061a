import ErrandTesting
import Foundation
import Testing

/// Range and conditional requests for a resource (RFC 9110 §13 and §14).
@Suite("LoopbackResource")
struct LoopbackResourceTests {
    let resource = LoopbackResource(Data("0123456789".utf8), etag: "\"v1\"")

    private func fetch(
        _ resource: LoopbackResource, _ headers: [LoopbackHeader]
    ) -> (status: Int, body: String, range: String?) {
        let request = LoopbackRequest(
            number: 0, connection: 0, method: "GET", target: "/", version: "HTTP/1.1",
            headers: headers)
        var result = (status: 0, body: "", range: String?.none)
        for step in resource.response(to: request).steps {
            if case .head(let status, let headers) = step {
                result.status = status
                result.range = headers.first { $0.name == "Content-Range" }?.value
            }
            if case .body(let data) = step { result.body = String(decoding: data, as: UTF8.self) }
        }
        return result
    }

    @Test(arguments: [
        ("bytes=4-", 206, "456789", "bytes 4-9/10"), ("bytes=2-3", 206, "23", "bytes 2-3/10"),
        ("bytes=-3", 206, "789", "bytes 7-9/10"), ("bytes=8-99", 206, "89", "bytes 8-9/10"),
        ("bytes=10-", 416, "", "bytes */10"), ("lines=1-2", 200, "0123456789", nil),
        ("bytes=3-2", 200, "0123456789", nil),
    ])
    func rangeRequests(line: String, status: Int, body: String, range: String?) {
        let response = fetch(resource, [LoopbackHeader("Range", line)])
        #expect(response.status == status && response.body == body && response.range == range)
    }

    @Test func ifRangeRequiresTheSameStrongValidator() {
        let range = LoopbackHeader("Range", "bytes=4-")
        #expect(fetch(resource, [range, LoopbackHeader("If-Range", "\"v1\"")]).status == 206)
        #expect(fetch(resource, [range, LoopbackHeader("If-Range", "\"v2\"")]).status == 200)
        let weak = LoopbackResource(Data("0123456789".utf8), etag: "W/\"v1\"")
        #expect(fetch(weak, [range, LoopbackHeader("If-Range", "W/\"v1\"")]).status == 200)
    }

    @Test func matchingETagReturnsNotModified() {
        #expect(fetch(resource, [LoopbackHeader("If-None-Match", "\"v1\"")]).status == 304)
    }
}
