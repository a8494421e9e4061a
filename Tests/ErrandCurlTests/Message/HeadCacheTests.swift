import ErrandCore
import HTTPTypes
import Testing

@testable import ErrandCurl

/// A repeated head is not parsed again and has the same value.
@Suite struct HeadCacheTests {
    private func read(_ text: String, _ cache: inout FieldCache) throws -> HeadParser.Head {
        var parser = ResponseParser()
        parser.begin(isHead: true, limit: 1 << 20)
        return try Array(text.utf8).withUnsafeBytes { bytes in
            var input = bytes
            switch parser.next(&input, cache: &cache) {
            case .interim(let head), .head(let head): return head
            case .failed(.head(let fault)): throw fault
            default: throw HeadParseError("no blank line")
            }
        }
    }

    private func head(_ lines: String..., status: String = "200 OK") -> String {
        "HTTP/1.1 \(status)\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    private func isCached(_ text: String, _ cache: FieldCache) -> Bool {
        Array(text.utf8).withUnsafeBytes { cache.heads.head(in: $0) } != nil
    }

    @Test func repeatedHeadIsCached() throws {
        var cache = FieldCache()
        let text = head("Server: x", "Content-Length: 12", "X-A: 1", "X-A: 2")
        let first = try read(text, &cache)
        #expect(isCached(text, cache))
        let second = try read(text, &cache)
        for head in [first, second] {
            #expect(head.status == .ok)
            #expect(head.version == .http11)
            #expect(head.framing.contentLength == 12)
            #expect(
                head.fields.map { "\($0.name.rawName): \($0.value)" } == [
                    "Server: x", "Content-Length: 12", "X-A: 1", "X-A: 2",
                ])
        }
    }

    /// Heads of equal length with equal ends share a slot of the table.
    @Test func similarHeadsAreDistinguished() throws {
        var cache = FieldCache()
        for round in 0..<3 {
            for second in 10..<60 {
                let text = head(
                    "Date: Sat, 21 Nov 2026 00:00:\(second) GMT", "Content-Length: \(second)",
                    "Server: xyz")
                let read = try read(text, &cache)
                #expect(read.framing.contentLength == Int64(second), "round \(round)")
                #expect(read.fields[.date] == "Sat, 21 Nov 2026 00:00:\(second) GMT")
            }
        }
    }

    @Test(arguments: [
        "Set-Cookie: a=b", "Location: /x?token=1", "WWW-Authenticate: Digest nonce=1",
    ])
    func headsWithSecretsAreNotCached(line: String) throws {
        var cache = FieldCache()
        let text = head("Server: x", line, status: "302 Found")
        #expect(try read(text, &cache).fields.count == 2)
        #expect(!isCached(text, cache))
    }

    @Test func largeHeadsAreNotCached() throws {
        var cache = FieldCache()
        let text = head("X-Large: " + String(repeating: "v", count: 3000))
        #expect(try read(text, &cache).fields.count == 1)
        #expect(!isCached(text, cache))
    }

    @Test func malformedHeadsAreNotCached() throws {
        var cache = FieldCache()
        let text = head("Content-Length: 1", "Content-Length: 2")
        for _ in 0..<2 {
            #expect(throws: HeadParseError.self) { try read(text, &cache) }
        }
        #expect(!isCached(text, cache))
    }

    /// Changing the fields of a response does not change the cached head.
    @Test func changedCopyDoesNotAffectCache() throws {
        var cache = FieldCache()
        let text = head("Server: x", "X-A: 1")
        var first = try read(text, &cache)
        first.fields[.server] = "changed"
        #expect(try read(text, &cache).fields[.server] == "x")
    }
}
