import ErrandCore
import Foundation
import HTTPTypes
import Testing

/// RFC 9111 §4.3.5: what the answer to a `HEAD` says of a stored one to a `GET`.
@Suite struct HeadFresheningTests {
    private static let then = Date(timeIntervalSince1970: 784_111_777)
    private static let modified = "Sat, 05 Nov 1994 08:49:37 GMT"

    private func judged(
        _ kept: HTTPFields, _ told: HTTPFields, status: Int = 200
    ) -> Revalidation.Freshening {
        let entry = StoredResponse(
            status: status, headers: kept, body: Data("abc".utf8), url: "https://a.example/",
            storedAt: Self.then)
        return Revalidation.freshened(
            entry, byHead: told, requestedAt: Self.then + 60, receivedAt: Self.then + 60)
    }

    @Test func theSameValidatorsRenew() {
        let kept: HTTPFields = [.eTag: "\"1\"", .lastModified: Self.modified, .contentLength: "3"]
        let told: HTTPFields = [.eTag: "W/\"1\"", .contentLength: "3", .cacheControl: "max-age=9"]
        guard case .updated(let entry) = judged(kept, told) else {
            Issue.record("not renewed")
            return
        }
        #expect(entry.headers[.cacheControl] == "max-age=9" && entry.body == Data("abc".utf8))
        #expect(entry.headers[.lastModified] == Self.modified)
        #expect(entry.storedAt == Self.then + 60)
    }

    @Test func otherValidatorsOrAnotherLengthMakeItWorthless() {
        let kept: HTTPFields = [.eTag: "\"1\"", .contentLength: "3"]
        #expect(judged(kept, [.eTag: "\"2\""]) == .outdated)
        #expect(judged(kept, [.eTag: "\"1\"", .contentLength: "4"]) == .outdated)
        #expect(judged(kept, [.lastModified: Self.modified]) == .outdated)
        #expect(judged(kept, [.contentLength: "4"]) == .outdated)
        #expect(judged(kept, [.eTag: "\"1\""], status: 404) == .outdated)
    }

    @Test func withoutAValidatorNothingIsKnown() {
        #expect(judged([.contentLength: "3"], [.contentLength: "3"]) == .unknown)
        #expect(judged([.eTag: "\"1\""], [.cacheControl: "max-age=9"]) == .unknown)
        #expect(judged([.eTag: "\"1\""], [.contentLength: "9"]) == .unknown)
    }
}
