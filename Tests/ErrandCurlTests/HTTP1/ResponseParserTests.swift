import ErrandTransport
import HTTPTypes
import Testing

@testable import ErrandCurl

/// Responses are parsed as RFC 9112 requires, however their bytes are split into segments.
struct ResponseParserTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String { response.debugDescription }
        let response: String
        let body: String
        let outcome: ParsedStream.Outcome
        init(_ response: String, _ body: String, _ outcome: ParsedStream.Outcome) {
            self.response = response
            self.body = body
            self.outcome = outcome
        }
    }

    private static func complete(_ response: String, _ body: String, keeps: Bool = true) -> Case {
        Case(response, body, .complete(keepsConnection: keeps))
    }

    private static func failed(
        _ response: String, _ fault: ResponseFault, after body: String = ""
    ) -> Case {
        Case(response, body, .failed(fault))
    }

    static let complete: [Case] = [
        complete(ok + "Content-Length: 5\r\n\r\nhello", "hello"),
        complete(ok + "Content-Length: 0\r\n\r\n", ""),
        complete(ok + "content-length:2\r\n\r\nhi", "hi"),
        complete(ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "hi"),
        complete(ok + "Content-Length: 2, 2\r\n\r\nhi", "hi"),
        complete("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", "hi"),
        complete("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", ""),
        complete("HTTP/1.1 999 \r\nContent-Length: 0\r\n\r\n", ""),
        complete("HTTP/1.1 204 No Content\r\n\r\n", ""),
        complete("HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", ""),
        complete("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", ""),
        complete(chunked + "0\r\n\r\n", ""),
        complete(chunked + "5\r\nhello\r\n0\r\n\r\n", "hello"),
        complete(
            chunked + "a\r\n0123456789\r\nA;x=\"a;b\"\r\n0123456789\r\n000\r\n\r\n",
            "01234567890123456789"),
        complete(chunked + "2 \t\r\nhi\r\n1 ; a = b ;c\r\n!\r\n0\r\n\r\n", "hi!"),
        complete(ok + "Transfer-Encoding: , Chunked ,\r\n\r\n1\r\n!\r\n0\r\n\r\n", "!"),
        complete(ok + "X-A: 1\r\n  2\r\nContent-Length: 2\r\n\r\nhi", "hi"),
        complete(ok + "X(A): 1\r\nContent-Length: 2\r\n\r\nhi", "hi"),
        complete(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nContent-Length: 9\r\n\r\n" + ok
                + "Content-Length: 2\r\n\r\nhi", "hi"),
    ]

    static let closing: [Case] = [
        complete(ok + "Content-Length: 2\r\nConnection: close\r\n\r\nhi", "hi", keeps: false),
        complete(ok + "Content-Length: 2\r\nConnection: a, CLOSE ,b\r\n\r\nhi", "hi", keeps: false),
        complete(
            ok + "Connection: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi", "hi",
            keeps: false),
        complete(
            ok + "Content-Length: 2\r\nConnection: keep-alive, close\r\n\r\nhi", "hi", keeps: false
        ),
        complete(ok + "Content-Length: 2\r\nConnection: closed, x-close\r\n\r\nhi", "hi"),
        complete("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", keeps: false),
        complete(
            ok + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi", "hi", keeps: false),
        complete(
            "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", "hi"),
        complete(
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2\r\nhi\r\n0\r\n\r\n", "hi", keeps: false),
        // Surplus bytes.
        complete(ok + "Content-Length: 2\r\n\r\nhi!", "hi", keeps: false),
        complete("HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nhi", "", keeps: false),
        complete(chunked + "0\r\n\r\n\r\n", "", keeps: false),
        complete(ok + "Content-Length: 0\r\n\r\n" + ok, "", keeps: false),
    ]

    static let malformed: [Case] = [
        failed("\u{1}\u{2}garbage\r\n\r\n", .notHTTP), failed("<html>hello</html>", .notHTTP),
        failed("220 mail ESMTP\r\n\r\n", .notHTTP), failed("\r\nHTTP/1.1 200 OK\r\n", .notHTTP),
        failed("http/1.1 200 OK\r\n\r\n", .notHTTP),
        failed(
            "HTTP/1.1 100 Continue\r\n\r\ngarbage", .notHTTP),
        failed(
            "HTTP/9.9 200 OK\r\n\r\n", .head(HeadParseError("Its HTTP version is unknown."))),
        failed("HTTP/2 200 OK\r\n\r\n", .head(.versionNotNegotiated)),
        failed(
            "HTTP/1.1 20 OK\r\n\r\n",
            .head(HeadParseError("The status is not a number of three digits."))),
        failed(ok + " X: folded\r\n\r\n", .head(.beginsFolded)),
        failed(ok + "nonsense\r\n\r\n", .head(.lacksColon)),
        failed(
            ok + "X-A : 1\r\n\r\n",
            .head(HeadParseError("A space precedes the colon of a header line."))),
        failed(
            ok + "X-A: a\0b\r\n\r\n", .head(HeadParseError("A header line contains NUL or CR."))),
        failed(
            ok + "X-A: a\rb\r\n\r\n", .head(HeadParseError("A header line contains NUL or CR."))),
        failed(
            ok + "Content-Length: 2\r\n 3\r\n\r\nhi",
            .head(HeadParseError("A field that determines the end of the body is folded."))),
        failed(
            ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
            .head(HeadParseError("Content-Length has two different values."))),
        failed(
            ok + "Content-Length: +2\r\n\r\nhi",
            .head(HeadParseError("Content-Length is not a number of bytes."))),
        failed(
            ok + "Content-Length: 9223372036854775808\r\n\r\nhi",
            .head(HeadParseError("Content-Length is not a number of bytes."))),
        failed(
            ok + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            .head(HeadParseError("It announces both a length and chunked coding."))),
        failed(
            ok + "Transfer-Encoding: gzip, chunked\r\n\r\n",
            .head(HeadParseError("The only supported transfer coding is chunked."))),
        failed(
            ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            .head(HeadParseError("The transfer coding chunked is announced twice."))),
        failed(
            ok + "Transfer-Encoding: chunked, identity\r\n\r\n",
            .head(HeadParseError("The only supported transfer coding is chunked."))),
        failed(
            ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
            .head(HeadParseError("The only supported transfer coding is chunked."))),
        // A combining mark after a space or a comma, and the Kelvin sign, are not ASCII.
        failed(
            ok + "Transfer-Encoding: , \u{CC}\u{81}chunked\r\n\r\n",
            .head(HeadParseError("The only supported transfer coding is chunked."))),
        failed(
            ok + "Transfer-Encoding: chun\u{E2}\u{84}\u{AA}ed\r\n\r\n",
            .head(HeadParseError("The only supported transfer coding is chunked."))),
        failed(
            ok + "Content-Length: 2, \u{CC}\u{81}2\r\n\r\nhi",
            .head(HeadParseError("Content-Length is not a number of bytes."))),
        failed("HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n", .head(.switchesProtocols)),
        failed(chunked + "zz\r\nhi\r\n", .malformedChunk),
        failed(chunked + "-1\r\nhi\r\n", .malformedChunk),
        failed(chunked + "0x2\r\nhi\r\n", .malformedChunk),
        failed(chunked + "\r\nhi\r\n", .malformedChunk),
        failed(chunked + ";a\r\nhi\r\n", .malformedChunk),
        failed(chunked + " 2\r\nhi\r\n", .malformedChunk),
        failed(chunked + "2 3\r\nhi\r\n", .malformedChunk),
        failed(chunked + "2\nhi\r\n", .malformedChunk),
        failed(chunked + "2\r\r\nhi\r\n", .malformedChunk),
        failed(chunked + "2;a\nhi\r\n", .malformedChunk),
        failed(chunked + "2;a\0\r\nhi\r\n", .malformedChunk),
        failed(chunked + "2\r\nhi\n", .malformedChunk, after: "hi"),
        failed(chunked + "2\r\nhi!\r\n", .malformedChunk, after: "hi"),
        failed(chunked + "8000000000000000\r\nhi", .malformedChunk),
        failed(chunked + "ffffffffffffffffff\r\nhi", .malformedChunk),
        failed(chunked + "00000000000000002\r\nhi", .malformedChunk),
        failed(chunked + "0\r\nnothing\r\n\r\n", .malformedTrailer),
        failed(chunked + "0\r\n X: folded\r\n\r\n", .head(.beginsFolded)),
    ]

    @Test(arguments: complete + closing + malformed)
    func responseHasResultInEverySplit(_ item: Case) {
        let expected = ParsedStream(item.response)
        #expect(expected.text == item.body)
        #expect(expected.outcome == item.outcome)
        let count = item.response.unicodeScalars.count
        #expect(ParsedStream(item.response, splitAt: Array(1..<count)) == expected)
        for first in 1..<count {
            let split = ParsedStream(item.response, splitAt: [first])
            #expect(split == expected, "split at \(first)")
        }
    }

    /// All splits into three segments, of a response with every kind of part.
    @Test func responseIsParsedInEverySplitIntoThree() {
        let response =
            "HTTP/1.1 103 A\r\nB: c\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
            + "Connection: x\r\n\r\n3;e=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 9\r\n\r\n"
        let expected = ParsedStream(response)
        #expect(expected.text == "abcde")
        #expect(expected.outcome == .complete(keepsConnection: true))
        #expect(expected.heads.map { $0.prefix(3) } == ["103", "200"])
        #expect(expected.trailers == ["X-Sum=[57]"])
        let count = response.utf8.count
        var mismatches = 0
        for first in 1..<count {
            for second in first..<count
            where ParsedStream(response, splitAt: [first, second]) != expected {
                mismatches += 1
            }
        }
        #expect(mismatches == 0)
    }

    /// The end of a response reports bytes after it, before they are read.
    @Test func endReportsSurplusBytes() {
        for (surplus, keeps) in [("", true), ("X", false)] {
            var parser = ResponseParser()
            var cache = FieldCache()
            parser.begin(isHead: false, limit: 1 << 10)
            var ends: [Bool] = []
            let response = Array((Self.ok + "Content-Length: 2\r\n\r\nhi\(surplus)").utf8)
            response.withUnsafeBytes { bytes in
                var input = bytes
                while ends.isEmpty {
                    switch parser.next(&input, cache: &cache) {
                    case .complete(let end): ends.append(end.keepsConnection)
                    case .needsInput, .failed: return
                    default: break
                    }
                }
            }
            #expect(ends == [keeps])
        }
    }

    // MARK: - The end of the connection

    /// No part of a response with a marked end is taken for a complete one.
    @Test(arguments: [
        ok + "Content-Length: 5\r\n\r\nhello", chunked + "5;a\r\nhello\r\n0\r\nX: y\r\n\r\n",
    ])
    func truncatedResponseFails(response: String) {
        let bytes = Array(response.utf8)
        let end = response.firstRange(of: "\r\n\r\n")?.upperBound ?? response.endIndex
        let headEnd = response.utf8.distance(from: response.startIndex, to: end)
        for count in 0..<bytes.count {
            let part = ParsedStream(String(decoding: bytes[..<count], as: UTF8.self), ends: true)
            let fault: ResponseFault =
                count == 0 ? .noResponse : count < headEnd ? .truncatedHead : .truncatedBody
            #expect(part.outcome == .failed(fault), "\(count) bytes")
        }
        #expect(
            ParsedStream(response, ends: true).outcome == .complete(keepsConnection: true))
    }

    @Test func bodyWithoutLengthEndsWithConnection() {
        for response in [
            Self.ok + "\r\nhello", Self.ok + "Transfer-Encoding: identity\r\n\r\nhello",
            Self.ok + "Connection: keep-alive\r\n\r\nhello",
        ] {
            let parsed = ParsedStream(response, ends: true)
            #expect(parsed.text == "hello")
            #expect(parsed.outcome == .complete(keepsConnection: false))
            #expect(ParsedStream(response).outcome == .incomplete)
        }
    }

    @Test func endAfterInterimResponseFails() {
        let parsed = ParsedStream("HTTP/1.1 100 Continue\r\n\r\n", ends: true)
        #expect(parsed.outcome == .failed(.truncatedHead))
    }

    @Test func resetConnectionFails() {
        var cache = FieldCache()
        for (text, fault) in [
            ("", ResponseFault.lostBeforeHead), ("HTTP/1.1 2", .lostBeforeHead),
            (Self.ok + "\r\nhello", .lostInBody),
            (Self.ok + "Content-Length: 9\r\n\r\nh", .lostInBody),
        ] {
            var parser = ResponseParser()
            parser.begin(isHead: false, limit: 1000)
            Array(text.utf8).withUnsafeBytes { bytes in
                var input = UnsafeRawBufferPointer(rebasing: bytes[...])
                while true {
                    if case .needsInput = parser.next(&input, cache: &cache) { break }
                }
            }
            guard case .failed(let found) = parser.connectionFailed() else {
                Issue.record("The reset is not reported.")
                continue
            }
            #expect(found == fault)
        }
    }

    // MARK: - Requests that change the response

    @Test(arguments: [
        ok + "Content-Length: 5\r\n\r\n", chunked, ok + "\r\n", ok + "Content-Length: 0\r\n\r\n",
    ])
    func responseToHEADHasNoBody(response: String) {
        let parsed = ParsedStream(response, isHead: true)
        #expect(parsed.outcome == .complete(keepsConnection: true))
        #expect(parsed.body.isEmpty)
        let surplus = ParsedStream(response + "hello", isHead: true)
        #expect(surplus.outcome == .complete(keepsConnection: false))
        #expect(surplus.body.isEmpty)
    }

    @Test func connectionIsHandedOverAfter101() {
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"
        let text = head + "\u{81}data"
        let count = text.unicodeScalars.count
        let expected = ParsedStream(text, acceptsUpgrade: true)
        #expect(expected.outcome == .switched(rest: [0x81] + Array("data".utf8)))
        #expect(expected.heads.count == 1)
        for index in 1..<count {
            #expect(ParsedStream(text, splitAt: [index], acceptsUpgrade: true) == expected)
        }
    }

    // MARK: - Limits

    @Test func headLimitCountsAllHeads() {
        let interim = "HTTP/1.1 103 A\r\nX: y\r\n\r\n"
        let final = Self.ok + "Content-Length: 0\r\n\r\n"
        let size = interim.utf8.count + final.utf8.count
        for splits in [[], Array(1..<size)] {
            let fits = ParsedStream(interim + final, splitAt: splits, limit: size)
            #expect(fits.outcome == .complete(keepsConnection: true))
            let exceeds = ParsedStream(interim + final, splitAt: splits, limit: size - 1)
            #expect(exceeds.outcome == .failed(.head(.tooLarge(limit: size - 1))))
        }
    }

    /// A head without end fails as soon as it exceeds the limit.
    @Test func endlessHeadFails() {
        let text = Self.ok + "X: " + String(repeating: "y", count: 1000)
        for splits in [[], Array(1..<text.utf8.count)] {
            #expect(
                ParsedStream(text, splitAt: splits, limit: 500).outcome
                    == .failed(.head(.tooLarge(limit: 500))))
        }
    }

    /// The fault and the number of bytes of a head that exceeds the limit are the same in any split.
    @Test func faultAtLimitIsSameInEverySplit() {
        for (text, limit) in [(Self.ok + "\r\n", 10), ("HTTPHTTP", 3), ("HTTX", 3)] {
            let whole = ParsedStream(text, limit: limit)
            let split = ParsedStream(text, splitAt: Array(1..<text.utf8.count), limit: limit)
            #expect(whole.outcome == .failed(.head(.tooLarge(limit: limit))))
            #expect(whole.headBytes == 0)
            #expect(split == whole)
        }
    }

    @Test func trailersAndExtensionsAreLimited() {
        let long = String(repeating: "y", count: 100)
        let trailers = Self.chunked + "0\r\nX: \(long)\r\n\r\n"
        #expect(ParsedStream(trailers, limit: 107).outcome == .complete(keepsConnection: true))
        #expect(ParsedStream(trailers, limit: 106).outcome == .failed(.head(.tooLarge(limit: 106))))
        // "x=" and the text, twice.
        let extensions = Self.chunked + "1;x=\(long)\r\n!\r\n1;x=\(long)\r\n!\r\n0\r\n\r\n"
        #expect(ParsedStream(extensions, limit: 204).outcome == .complete(keepsConnection: true))
        #expect(ParsedStream(extensions, limit: 203).outcome == .failed(.malformedChunk))
        let spaces = Self.chunked + "1" + String(repeating: " ", count: 200)
        #expect(ParsedStream(spaces, limit: 199).outcome == .failed(.malformedChunk))
    }

    @Test func interimResponsesAreLimited() {
        let interim = "HTTP/1.1 103 A\r\n\r\n"
        let final = Self.ok + "Content-Length: 0\r\n\r\n"
        let most = ParsedStream(String(repeating: interim, count: 64) + final)
        #expect(most.outcome == .complete(keepsConnection: true) && most.heads.count == 65)
        let more = ParsedStream(String(repeating: interim, count: 65) + final)
        #expect(more.outcome == .failed(.head(.tooManyInterim(limit: 64))))
    }

    @Test func fieldsAreReported() throws {
        let response =
            Self.ok + "X-A:\t 1 \t\r\nx-a: gr\u{FC}n\r\nX-B:\r\nX-C: a\r\n b\r\n\tc\r\n"
            + "Content-Length: 0\r\n\r\n"
        let head = try #require(ParsedStream(response).heads.first)
        #expect(
            head == "200|HTTP/1.1|X-A=[49]|x-a=[103, 114, 252, 110]|X-B=[]|"
                + "X-C=[97, 32, 98, 32, 99]|Content-Length=[48]")
    }

    /// A connection carries responses one after another, and the parser's state is reset.
    @Test func parserIsReused() {
        var cache = FieldCache()
        var parser = ResponseParser()
        let responses = [
            Self.chunked + "2;abc\r\nhi\r\n0\r\nX: y\r\n\r\n", "HTTP/1.1 204 No\r\n\r\n",
            Self.ok + "Content-Length: 2\r\n\r\nhi",
        ]
        for response in responses + responses {
            parser.begin(isHead: false, limit: 100)
            #expect(parser.isActive)
            var isComplete = false
            Array(response.utf8).withUnsafeBytes { bytes in
                var input = UnsafeRawBufferPointer(rebasing: bytes[...])
                while !isComplete {
                    switch parser.next(&input, cache: &cache) {
                    case .complete(let end):
                        #expect(end.keepsConnection)
                        isComplete = true
                    case .failed, .needsInput:
                        Issue.record("The response is not complete.")
                        return
                    default: break
                    }
                }
                #expect(input.isEmpty)
            }
            #expect(!parser.isActive && parser.isHeadComplete)
        }
    }
}
