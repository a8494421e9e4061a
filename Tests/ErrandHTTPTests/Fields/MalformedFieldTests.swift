import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandHTTP

/// Parsers of response fields accept any text without a trap.
@Suite struct MalformedFieldTests {
    private static let pieces = [
        "=", ";", ",", "\"", "\\", " ", "\t", "a", "é", "\0", "%", "%4", "'", "''", "Basic", "*",
        ":",
        "filename", "charset", "Max-Age", "Expires", "Domain", "Path", "-", "99999999999999999999",
        "GMT", "Sun", "Nov", "06", "08:49:37", "r", "t", "(", "[", "UTF-8", "💩", "\u{301}",
    ]

    @Test func randomFieldValuesNeverTrap() throws {
        var generator = SeededGenerator(seed: 3)
        let url = try HTTPURL(parsing: "http://a.example/x")
        let jar = CookieJar(clock: ManualClock())
        let names = try ["RateLimit", "RateLimit-Policy", "X-RateLimit-Remaining"].map {
            try #require(HTTPField.Name($0))
        }
        for _ in 0..<4000 {
            let count = Int.random(in: 0...9, using: &generator)
            let text = (0..<count).compactMap { _ in
                Self.pieces.randomElement(using: &generator)
            }.joined()
            let challenges = AuthenticationChallenge.parse([text])
            #expect(challenges.allSatisfy { !$0.scheme.isEmpty })
            _ = DigestChallenge.first(in: challenges)
            #expect(ContentDisposition(text)?.type.isEmpty != true)
            #expect(ResponseText.charset(of: text)?.isEmpty != true)
            _ = HTTPDate.parse(text)
            #expect((RetryAfter.duration(text, now: Date()) ?? .zero) >= .zero)
            jar.receive(text, from: url)
            _ = try? HTTPURL.resolve(text, against: url)
            let fields = HTTPFields(names.map { HTTPField(name: $0, value: text) })
            let rateLimit = RateLimitHeaders(status: 429, headers: fields, now: Date())
            #expect((rateLimit.remaining ?? 0) >= 0 && (rateLimit.pause ?? .zero) >= .zero)
        }
        #expect(jar.all.count <= 50)
    }
}
