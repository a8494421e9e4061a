import Testing

@testable import ErrandInspector

@Suite("Inspector: heads")
struct CallInputTests {
    private func head(_ text: String, piece: Int = .max) throws -> CallHead? {
        var input = CallInput()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            input.append(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            if let head = try input.takeHead() { return head }
        }
        return nil
    }

    private func fault(_ text: String) -> CallHead.Fault? {
        do {
            _ = try head(text)
            return nil
        } catch {
            return error as? CallHead.Fault
        }
    }

    @Test(arguments: [1, 2, 3, 7, .max])
    func headIsReadInAnyPieces(piece: Int) throws {
        let text =
            "\r\nPOST /api/rules?a=1%202&b&a=3 HTTP/1.1\r\nHost: h:1\r\nAUTHORIZATION:\tBearer x \r\n"
            + "Origin: o\r\nSec-Fetch-Site: none\r\nContent-Length: 12\r\nX: 1\r\nx: 2\r\n\r\n"
        let head = try #require(try head(text, piece: piece))
        #expect(head.method == "POST")
        #expect(head.path == "/api/rules")
        #expect(head.query == ["a": "1 2", "b": ""])
        #expect(head.contentLength == 12)
        #expect(!head.isLast && !head.expectsContinue)
        #expect(head.access.host == "h:1")
        #expect(head.access.authorization == "Bearer x")
        #expect(head.access.origin == "o")
        #expect(head.access.fetchSite == "none")
        #expect(head.access.queryToken == nil)
    }

    @Test func absoluteTargetNamesTheHost() throws {
        let head = try #require(try head("GET HTTP://a:1?token=t HTTP/1.1\r\nHost: b:2\r\n\r\n"))
        #expect(head.path == "/")
        #expect(head.access.host == "a:1")
        #expect(head.access.queryToken == "t")
    }

    @Test(arguments: [
        ("HTTP/1.1\r\nHost: a", false), ("HTTP/1.0\r\nHost: a", true),
        ("HTTP/1.1\r\nHost: a\r\nConnection: x, Close", true),
        ("HTTP/1.1\r\nHost: a\r\nConnection: keep-alive", false),
    ])
    func endOfTheConnectionIsKnown(rest: String, isLast: Bool) throws {
        #expect(try head("GET / \(rest)\r\n\r\n")?.isLast == isLast)
    }

    @Test(arguments: [
        "\n", "GET / HTTP/1.1\nHost: a\n\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\u{E9} HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
    ])
    func ambiguousHeadIsRefused(text: String) {
        #expect(fault(text) == .malformed)
    }

    @Test func otherFaultsAreNamed() {
        #expect(fault("GET / HTTP/2.0\r\nHost: a\r\n\r\n") == .version)
        let post = "POST / HTTP/1.1\r\nHost: a\r\n"
        #expect(fault("\(post)Transfer-Encoding: chunked\r\n\r\n") == .transferCoding)
        #expect(fault("\(post)Content-Length: 8388609\r\n\r\n") == .bodyTooLarge)
        #expect(fault("\(post)Content-Length: 99999999999999999999\r\n\r\n") == .bodyTooLarge)
    }

    @Test func headIsBoundedAndEachByteIsExaminedOnce() throws {
        var input = CallInput()
        for _ in 0..<CallInput.maximumHead {
            input.append(CollectionOfOne(0x61))
            #expect(try input.takeHead() == nil)
        }
        #expect(input.examined == CallInput.maximumHead)
        input.append(CollectionOfOne(0x61))
        #expect(throws: CallHead.Fault.headTooLarge) { try input.takeHead() }
    }

    @Test func bytesAfterARequestBelongToTheNext() throws {
        var input = CallInput()
        input.append(
            "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}GET /b HTTP/1.1\r\nHost: b\r\n\r\n"
                .utf8)
        #expect(try input.takeHead()?.path == "/a")
        #expect(input.takeBody(2) == Array("{}".utf8))
        #expect(try input.takeHead()?.path == "/b")
        #expect(input.count == 0)
        #expect(input.takeBody(1) == nil)
    }
}
