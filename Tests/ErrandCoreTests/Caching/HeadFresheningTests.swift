import ErrandCore
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

    // MARK: - Tags that are not UTF-8

    private static func tag(_ byte: UInt8) -> HTTPFields {
        HTTPFields([HTTPField(name: .eTag, value: [0x22, byte, 0x22])])
    }

    /// Entity tags are bytes (RFC 9110 §8.8.3), also those that are no text.
    @Test func tagsAreComparedByBytes() throws {
        #expect(update(Self.tag(0xE8), Self.tag(0xE9)) == .outdated)
        guard case .updated = update(Self.tag(0xE9), Self.tag(0xE9)) else {
            Issue.record("The entry was not updated.")
            return
        }
        let entry = StoredResponse(
            status: 200, headers: Self.tag(0xE8), body: Data("abc".utf8), url: "https://a.example/",
            storedAt: Self.reference)
        for (byte, isSame) in [(UInt8(0xE8), true), (0xE9, false)] {
            let confirmed = Revalidation.confirmed(
                entry, by: Self.tag(byte), requestedAt: Self.reference, receivedAt: Self.reference)
            #expect((confirmed != nil) == isSame)
        }
        let condition = try #require(
            Revalidation.conditions(for: entry)[fields: .ifNoneMatch].first)
        #expect(condition.withUnsafeBytesOfValue { Array($0) } == [0x22, 0xE8, 0x22])
    }
}
