import ErrandCore
import ErrandHTTP
import ErrandTransport
import Foundation
import HTTPTypes
import Testing

/// A `Location` that is not UTF-8 keeps its bytes (RFC 9110 §5.5).
@Suite struct ReceivedLocationTests {
    @Test(arguments: [
        ("/jos\u{E9}", "https://a.example/jos%E9"),
        ("/a?q=\u{E9}%20\u{FC}", "https://a.example/a?q=%E9%20%FC"),
    ])
    func redirectsKeepTheBytesOfLocation(location: String, expected: String) throws {
        let request = TransportRequest(url: try HTTPURL(parsing: "https://a.example/"))
        for isLatin1 in [true, false] {
            let latin1 = location.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            let value =
                isLatin1
                ? HTTPField(name: .location, value: latin1)
                : HTTPField(name: .location, value: location)
            let response = Response(
                status: .found, headers: HTTPFields([value]), body: .data(Data()), url: request.url,
                attempts: 1, ownTimings: AttemptTimings(), httpVersion: .http11,
                remoteAddress: nil, trailers: [:], requestStorage: request.storage)
            let decision = RedirectDecision.decide(
                response: response, request: request, visited: [request.url],
                policy: RedirectPolicy())
            guard case .follow(let next) = decision else {
                Issue.record("\(decision)")
                return
            }
            let utf8 = expected.replacing("%E9", with: "%C3%A9").replacing("%FC", with: "%C3%BC")
            #expect(next.url.string == (isLatin1 ? expected : utf8))
        }
    }
}
