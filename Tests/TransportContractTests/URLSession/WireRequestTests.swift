import ErrandCore
import ErrandTransport
import Foundation
import Testing

@testable import ErrandURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Conversion of requests to `URLRequest`, and of response heads from `URLResponse`.
@Suite("WireRequest")
struct WireRequestTests {
    @Test(arguments: [Duration?.none, .milliseconds(1), .seconds(60), .seconds(1 << 40)])
    func sessionTimeoutIsIndependentOfTheTimeouts(idle: Duration?) throws {
        var request = TransportRequest(url: HTTPURL(scheme: "http", host: "h.example", path: "/"))
        request.timeouts = Timeouts(connect: nil, idle: idle)
        let url = try #require(WireRequest.url(of: request))
        let made = WireRequest.make(request, url: url, bodyLength: nil, additional: [:])
        #expect(made.timeoutInterval == 604_800)
    }

    @Test func userInfoAndFragmentAreNotSent() {
        let request = TransportRequest(
            url: HTTPURL(
                scheme: "http", userInfo: "a:b", host: "h.example", path: "/p", query: "q",
                fragment: "f"))
        #expect(WireRequest.url(of: request)?.absoluteString == "http://h.example/p?q")
    }

    @Test(arguments: [
        ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]),
        (
            "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2",
            ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "b=2"]
        ),
        ("a=x,y", ["a=x,y"]), ("", [""]), (",", [","]), ("a=1,b=2,c", ["a=1", "b=2,c"]),
    ])
    func joinedSetCookieLinesAreSplit(text: String, lines: [String]) {
        #expect(SetCookieLines.split(text) == lines)
    }

    @Test(arguments: [
        ("5", false), ("5, 5", false), ("5 ,05", false), ("5, 6", true), ("-5", true), ("+5", true),
        ("", true), ("5,", true), ("9223372036854775807", false), ("9223372036854775808", true),
        ("999999999999999999999999999999", true),
    ])
    func invalidContentLengthsAreDetected(text: String, isInvalid: Bool) {
        let head = ResponseHead(status: .ok, headers: [.contentLength: text])
        #expect(head.hasInvalidLength == isInvalid)
    }

    @Test(arguments: [
        ("", []), ("identity", []), ("none, Identity", []), ("GZIP", ["gzip"]),
        ("deflate , br", ["deflate", "br"]),
    ])
    func contentCodingsAreListed(text: String, codings: [String]) {
        let head = ResponseHead(status: .ok, headers: [.contentEncoding: text])
        #expect(head.contentCodings == codings)
        #expect(head.isEncoded == !codings.isEmpty)
    }
}
