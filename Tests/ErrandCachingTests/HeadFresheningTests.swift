import ErrandCaching
import Foundation
import HTTPTypes
import Testing

/// Updating a stored `GET` response by a `HEAD` response (RFC 9111 §4.3.5).
@Suite struct HeadFresheningTests {
    private static let reference = Date(timeIntervalSince1970: 784_111_777)
    private static let modified = "Sat, 05 Nov 1994 08:49:37 GMT"

    private func update(
        _ stored: HTTPFields, _ head: HTTPFields, status: Int = 200
    ) -> Revalidation.StoredResponseUpdate {
        let entry = StoredResponse(
            status: status, headers: stored, body: Data("abc".utf8), url: "https://a.example/",
            storedAt: Self.reference)
        return Revalidation.freshened(
            entry, byHead: head, requestedAt: Self.reference + 60, receivedAt: Self.reference + 60)
    }

    @Test func matchingValidatorsUpdateTheEntry() {
        let stored: HTTPFields = [
            .eTag: "\"1\"", .lastModified: Self.modified, .contentLength: "3",
        ]
        let head: HTTPFields = [.eTag: "W/\"1\"", .contentLength: "3", .cacheControl: "max-age=9"]
        guard case .updated(let entry) = update(stored, head) else {
            Issue.record("The entry was not updated.")
            return
        }
        #expect(entry.headers[.cacheControl] == "max-age=9" && entry.body == Data("abc".utf8))
        #expect(entry.headers[.lastModified] == Self.modified)
        #expect(entry.storedAt == Self.reference + 60)
    }

    @Test func differentValidatorOrLengthOutdatesTheEntry() {
        let stored: HTTPFields = [.eTag: "\"1\"", .contentLength: "3"]
        #expect(update(stored, [.eTag: "\"2\""]) == .outdated)
        #expect(update(stored, [.eTag: "\"1\"", .contentLength: "4"]) == .outdated)
        #expect(update(stored, [.lastModified: Self.modified]) == .outdated)
        #expect(update(stored, [.contentLength: "4"]) == .outdated)
        #expect(update(stored, [.eTag: "\"1\""], status: 404) == .outdated)
    }

    @Test func missingValidatorIsInconclusive() {
        #expect(update([.contentLength: "3"], [.contentLength: "3"]) == .unknown)
        #expect(update([.eTag: "\"1\""], [.cacheControl: "max-age=9"]) == .unknown)
        #expect(update([.eTag: "\"1\""], [.contentLength: "9"]) == .unknown)
    }
}
