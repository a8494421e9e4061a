import Foundation
import TestSupport
import Testing

@testable import ErrandHTTP

/// Values in the URL of an endpoint are data, and those that would lead to another endpoint are refused.
@Suite struct EndpointURLTests {
    private enum Kind: String { case new = "a/b" }
    private enum Number: Int { case three = 3 }
    private struct ID: RawRepresentable, LosslessStringConvertible {
        var rawValue: Int
        var description: String { "ID \(rawValue)" }
        init(rawValue: Int) { self.rawValue = rawValue }
        init?(_ description: String) { nil }
    }
    private struct Name: LosslessStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }

    private static let slash = "a/b"
    private static let delimiters = "x&y=1#z ?%é+~-._"
    private static let empty = ""
    private static let dot = "."
    private static let dots = ".."
    private static let inner: EndpointURL = "repos/\(slash)"
    private static let head: EndpointURL = "\("acme")/x"

    // MARK: - Accepted

    private static let values: [(EndpointURL, String)] = [
        ("users/\(7)", "users/7"), ("users/\(slash)/posts", "users/a%2Fb/posts"),
        ("users/\(delimiters)", "users/x%26y%3D1%23z%20%3F%25%C3%A9%2B~-._"),
        (
            "s?q=\(delimiters)&n=\(true)",
            "s?q=x%26y%3D1%23z%20%3F%25%C3%A9%2B~-._&n=true"
        ),
        ("a#\(slash)", "a#a%2Fb"), ("\(slash)", "a%2Fb"),
        ("k/\(Kind.new)/\(Number.three)/\(ID(rawValue: -3))/\(1.5)", "k/a%2Fb/3/-3/1.5"),
        ("k/\(Name("a b"))/\(slash.prefix(2))/\(Character("/"))/\(UInt8(7))", "k/a%20b/a%2F/%2F/7"),
        ("\(1e20)", "1e%2B20"),
        (
            "u/\(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))",
            "u/01020304-0506-0708-090A-0B0C0D0E0F10"
        ),
        ("users/\("a\0b\r\n\u{7F}")", "users/a%00b%0D%0A%7F"),
        ("\("日👨‍👩‍👧")", "%E6%97%A5%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
        ("users/\("a;b,c:d")", "users/a%3Bb%2Cc%3Ad"), ("a/\("b\\c")", "a/b%5Cc"),
        ("users/\("../admin")", "users/..%2Fadmin"), ("users/\("%2e%2E")", "users/%252e%252E"),
    ]

    @Test(arguments: values)
    func valueIsData(url: EndpointURL, text: String) {
        #expect(url.text == text)
        #expect(url.fault == nil)
        #expect("\(url)" as String == text)
    }

    private static let pieces: [(EndpointURL, String)] = [
        ("contents/\(path: "docs/a b.md")", "contents/docs/a%20b.md"),
        ("contents/\(path: ["a/b", "c"])", "contents/a%2Fb/c"),
        ("contents/\(path: "a/\u{301}b")", "contents/a/%CC%81b"),
        ("c/\(["a/b", "c,d", ""], separator: ",")/x", "c/a%2Fb,c%2Cd,/x"),
        ("c/;n=\([1, 2], separator: ";n=")", "c/;n=1;n=2"),
        ("c?n=\([Int](), separator: ",")", "c?n="),
        ("c/.\([".", "."], separator: ".")", "c/...."),
        ("x/\(raw: "a/b?c=d")", "x/a/b?c=d"), ("\(raw: "//x")", "//x"),
        ("\(inner)/issues", "repos/a%2Fb/issues"), ("x/\(head)", "x/acme/x"),
        ("../health", "../health"), ("a%20b", "a%20b"), ("", ""),
        ("hooks//\(slash)", "hooks//a%2Fb"),
    ]

    @Test(arguments: pieces)
    func piecesAreKept(url: EndpointURL, text: String) {
        #expect(url.text == text)
        #expect(url.fault == nil)
    }

    // Empty values and dots that make no dot segment.
    private static let harmless: [(EndpointURL, String)] = [
        ("report\(empty)", "report"), ("report\(empty)/x", "report/x"), ("v\(dot)\(dot)", "v.."),
        ("x/\(dots).", "x/..."), ("s?q=\(empty)", "s?q="),
        ("s?q=\(dots)&p=a/\(empty)", "s?q=..&p=a/"),
        ("s#\(empty)", "s#"), ("a;v=\(empty)", "a;v="), (".\("a")", ".a"), ("%2e\("a")", "%2ea"),
        ("../\("a")", "../a"), ("a/\("a")\(empty)", "a/a"), ("a\(inner)\(dots)", "arepos/a%2Fb.."),
    ]

    @Test(arguments: harmless)
    func dotsInsideASegmentAreKept(url: EndpointURL, text: String) {
        #expect(url.text == text)
        #expect(url.fault == nil)
    }

    // A `%` of a literal never forms an escape with a value, as it forms none when a URL is parsed.
    private static let escapes: [(EndpointURL, String)] = [
        ("a/%\("41")", "a/%2541"), ("a/%4\("1")", "a/%2541"), ("a/%2\("e")", "a/%252e"),
        ("a/%\(empty)41", "a/%2541"), ("a/%2f\("x")", "a/%2fx"), ("a/%%4\("1")", "a/%%2541"),
        ("a/%2\(head)", "a/%252acme/x"), ("a/%2\(path: "F/b")", "a/%252F/b"),
        ("a/%2\(raw: "F")\("b")", "a/%2Fb"), ("a/%25\("41")", "a/%2541"),
        ("100%\(empty)", "100%25"), ("\("a/\(dot)b%2" as EndpointURL)e/x", "a/.b%252e/x"),
    ]

    @Test(arguments: escapes)
    func valueNeverCompletesAnEscape(url: EndpointURL, text: String) throws {
        #expect(url.text == text)
        #expect(url.fault == nil)
        let path = try HTTPURL(parsingEndpoint: url.text).path
        #expect(PercentEncoding.isEncoded(path.utf8, keeping: URIBytes.path))
    }

    private static let hosts: [(EndpointURL, String)] = [
        ("https://\("acme").example.com/x", "https://acme.example.com/x"),
        ("https://api-\("eu").example.com/x", "https://api-eu.example.com/x"),
        ("https://api.\("eu.west").example.com/x", "https://api.eu.west.example.com/x"),
        ("https://\("h.example.org")/x/\(slash)", "https://h.example.org/x/a%2Fb"),
        ("https://\("h.example.org")", "https://h.example.org"),
        ("HTTPS://\("h.example.org")?q=\(slash)", "HTTPS://h.example.org?q=a%2Fb"),
        ("https://h.example:\(8080)/x", "https://h.example:8080/x"),
        ("https://\("h")-1.example:\(8080)/x", "https://h-1.example:8080/x"),
        ("https://\("a")\("b").example", "https://ab.example"),
        ("https://api\(empty).example.com", "https://api.example.com"),
        ("\("https://\("a").example/v" as EndpointURL)/x", "https://a.example/v/x"),
        (" https://h.example/\("x") ", "https://h.example/x"),
        ("https://\("münchen.example")/x", "https://münchen.example/x"),
        ("https://\("127.0.0.1"):80/", "https://127.0.0.1:80/"),
        ("https://h.example/\("@")", "https://h.example/%40"),
        ("https://h.example?\("@")", "https://h.example?%40"),
        ("https://[::1]:80/\("x")", "https://[::1]:80/x"),
        ("https://u:p@h.example/\("x")", "https://u:p@h.example/x"),
    ]

    @Test(arguments: hosts)
    func valueInAHostIsALabelOrTheWholeHost(url: EndpointURL, text: String) throws {
        #expect(url.text == text)
        #expect(url.fault == nil)
        #expect(try HTTPURL(parsingEndpoint: url.text).isAbsoluteHTTP)
    }

    // MARK: - Refused

    private static let emptySegments: [EndpointURL] = [
        "users/\([String](), separator: ",")", "users/\([empty], separator: ",")/x",
        "users/\(empty)", "users/\(empty)/posts", "\(empty)/x", "\(empty)?q", "\(empty)#f",
        "/\(empty)/x", "\(empty)//evil.example/a", "https:/\(empty)/evil.example", "\(empty)",
        "contents/\(path: "a//b")", "contents/\(path: [String]())", "contents/\(path: "/a")",
        "contents/\(path: "a/")", "contents/\(path: "")", "a/\(empty)\(empty)?x",
        "https://h.example/\(empty)", "a/\(empty);v=1", "x/\("a")/\(empty)/\("b")",
        "\("\(empty)" as EndpointURL)x", "users/\(empty) ", " \(empty)/x",
    ]

    @Test(arguments: emptySegments)
    func emptySegmentIsRefused(url: EndpointURL) { #expect(url.fault == .emptySegment) }

    private static let dotSegments: [EndpointURL] = [
        "users/\(dots)/posts", "users/\(dot)", "users/.\(dot)/x", "users/\(dot)\(dot)",
        "users/\(dot)\(empty).", "users/.\(empty)", "contents/\(path: "../x")", "\(dots)",
        "contents/\(path: ["a", ".."])", "users/\([dot], separator: ",")", "users/%2e\(dot)",
        "users/\(dot)%2E/x",
        "users/\(empty)%2e",
        "users/\(dots);v=1", "https://h.example/\(dots)/x",
        "x/\(EndpointURL(raw: "."))\(dot)", "users/\(dots) ", " \(dots)/x", "users/\(dot)   ",
        "https://h.example/a/b/\(dots) ", "a/\(path: "x/..") ", "v/w/\("\(dots) " as EndpointURL)",
    ]

    @Test(arguments: dotSegments)
    func dotSegmentIsRefused(url: EndpointURL) { #expect(url.fault == .dotSegment) }

    private static let schemes: [EndpointURL] = [
        "\("https")://evil.example", "https\(empty)://evil.example", "https:\(empty)//evil.example",
        "\("a b")://evil.example", " \("http")://evil.example", "h\("ttps")://\("x")",
        "\("\("https")" as EndpointURL)://evil.example", "\("1")+x://evil.example",
        // Another URL with values does not become the authority.
        "https:/\("/\("evil.example")/y" as EndpointURL)",
        "\(raw: "https")\("://api.example\(".evil.example")/y" as EndpointURL)",
        "https:\("//u:\("p")@\("evil.example")/y" as EndpointURL)",
        "https:\("//h:8\("0")" as EndpointURL)", "https:\("//[::\("1")]" as EndpointURL)",
    ]

    @Test(arguments: schemes)
    func valueBeforeTheHostIsRefused(url: EndpointURL) { #expect(url.fault == .scheme) }

    private static let refusedHosts: [EndpointURL] = [
        "https://h.example\(".evil.example")/x", "https://h.example\("evil")/x",
        "https://h.example\("evil")", "https://h.example\("/x")", "https://h.example.\("evil")/",
        "https://\("a").\("b")/", "https://api-\("a"):80/x", "https://api-\("a")./x",
        "https://api-\("a.b").example/x", "https://\("a.").example/", "https://\(".a").example/",
        "https://\("a..b").example/", "https://\("a@evil.example")/x",
        "https://\("evil.example/")/x",
        "https://\(empty)/x", "https://\(empty).example/x",
        "https://\("evil.example#").example.com",
        "https://\("evil.example:1")/", "https://\("::1")/", "https://[::\("1")]/",
        "https://h.example:\("80@evil.example")/", "https://h.example:\(empty)/",
        "https://h.example:\("8a")/", "https://h.example:8\("0")/",
        "https://u:\("p@evil.example")@h.example/", "https://u:\("1")@h.example/",
        "https://\("u")@h.example/", "https://u@\("h.example")/",
        "https://\("evil.example\\").b.example/",
        "https://\("evil.example\u{FF0F}x").b.example/", "https://\("a\u{FF0E}")/",
        "https://\("\u{AD}").example/", "https://a\("é").example/", "https://\("a_b").example/",
        "https://\("a b")/", "https://\("a%2Fb")/", "https://h.example\(head)",
        "https://\("\("a@b")/x" as EndpointURL)", "https://h.example\(path: "/x")",
        "https://\("\0")/", " HTTPS://h.example\(".evil")/",
        // Spaces at the end are no label.
        "https://api-\("evil"). ", "https://api-\("evil") ",
        // The values of another URL are no part of a host, wherever they are in it.
        "https://\(head)", "https://\("api.\("evil.example")" as EndpointURL)/v1",
        "https://\("h\(".evil.example")" as EndpointURL)/x",
        "https://\("\("\("a")b" as EndpointURL)/users" as EndpointURL)",
        "https://h\("/\("x")" as EndpointURL)", "https://\(path: "evil.example/p")/x",
        "https://\("h:\(80)" as EndpointURL)/",
    ]

    @Test(arguments: refusedHosts)
    func valueThatChangesAHostIsRefused(url: EndpointURL) { #expect(url.fault == .host) }

    @Test func faultIsKeptInLargerURLs() {
        let inner: EndpointURL = "users/\(Self.dots)"
        #expect(("\(inner)/posts" as EndpointURL).fault == .dotSegment)
        #expect(("x?next=\(inner)" as EndpointURL).fault == .dotSegment)
        #expect(EndpointURL(raw: inner.text) != inner)
        #expect(inner == "users/\(Self.dots)")
    }

    /// The bytes of a URL decide, not its characters.
    @Test func equalityIsThatOfBytes() {
        #expect(("x/é" as EndpointURL) != "x/e\u{301}")
        #expect(Set(["x/é", "x/é"] as [EndpointURL]).count == 1)
    }

    @Test func messagesOfFaultsHaveNoValue() {
        for fault in [EndpointURL.Fault.emptySegment, .dotSegment, .scheme, .host] {
            #expect(fault.reason.hasPrefix("has ") && fault.reason.hasSuffix("."))
        }
    }

    @Test func readyURLsAreKept() throws {
        let text = "https://u@h.example/a%2Fb?c=d#e"
        #expect(EndpointURL(raw: text).text == text)
        #expect(EndpointURL(try HTTPURL(parsing: text)).text == text)
        #expect(EndpointURL(try #require(URL(string: text))).text == text)
    }

    @Test func textIsEncodedAndDecodedUnlessItIsRefused() throws {
        let stored = StoredEndpointURL("users/\(Self.slash)")
        let data = try JSONEncoder().encode([stored])
        #expect(String(decoding: data, as: UTF8.self).contains("a%2Fb"))
        #expect(try JSONDecoder().decode([StoredEndpointURL].self, from: data) == [stored])
        #expect(throws: EncodingError.self) {
            try JSONEncoder().encode([StoredEndpointURL("users/\(Self.dots)")])
        }
    }

    // MARK: - Random values

    private static let seed = UInt64.random(in: 0...UInt64.max)

    private static func value(_ random: inout SeededGenerator) -> String {
        let alphabet = Array("ab./?#%:@&=+;\\ \u{0}\r\né🙂-_~\"<>[]|^`{}25eEfF")
        return String(
            (0..<Int.random(in: 0...6, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? "x"
            })
    }

    private static func decoded(_ text: some StringProtocol) -> String {
        String(decoding: PercentEncoding.decode(text.utf8), as: UTF8.self)
    }

    @Test func randomValuesAddNoDelimiterAndKeepTheirText() throws {
        var random = SeededGenerator(seed: Self.seed)
        for _ in 0..<10_000 {
            let value = Self.value(&random)
            let url: EndpointURL = "a/\(value)/b?c=\(value)&d#\(value)"
            guard url.fault == nil else {
                #expect(["", ".", ".."].contains(value), "seed \(Self.seed): \(value) was refused")
                continue
            }
            let parsed = try HTTPURL(parsingEndpoint: url.text)
            let segments = parsed.path.split(separator: "/", omittingEmptySubsequences: false)
            #expect(segments.count == 3, "seed \(Self.seed): \(url)")
            #expect(segments.map(Self.decoded) == ["a", value, "b"], "seed \(Self.seed): \(url)")
            let items = (parsed.query ?? "").split(separator: "&").map(Self.decoded)
            #expect(items == ["c=" + value, "d"], "seed \(Self.seed): \(url)")
            #expect(parsed.fragment.map(Self.decoded) == value, "seed \(Self.seed): \(url)")
        }
    }

    /// Two values in one segment, and a value among literals that are half an escape or a dot.
    @Test func randomValuesOfOneSegmentStayInIt() throws {
        var random = SeededGenerator(seed: Self.seed)
        let literals = ["", ".", "%2e", "%", "%2", "x", "25"]
        for _ in 0..<10_000 {
            let (one, two) = (Self.value(&random), Self.value(&random))
            let (before, after) = (
                literals.randomElement(using: &random) ?? "",
                literals.randomElement(using: &random) ?? ""
            )
            let url: EndpointURL = "a/\(raw: before)\(one)\(two)\(raw: after)/b"
            let path = try HTTPURL(parsingEndpoint: url.text).path
            let base = try HTTPURL(parsing: "https://h.example/v")
            let joined = try HTTPURL(parsingEndpoint: url.text).joined(below: base)
            let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            let segment = Self.decoded(segments[1])
            if url.fault == nil {
                #expect(
                    segments.count == 3
                        && !["", ".", ".."].contains(segment)
                        && (segment.contains(one + two) || (one + two).isEmpty)
                        && joined.path == "/v/" + path && joined.host == "h.example",
                    "seed \(Self.seed): \(url)")
            } else {
                #expect(["", ".", ".."].contains(segment), "seed \(Self.seed): \(url)")
            }
        }
    }

    @Test func randomValuesOfHostsNeverChangeTheirEnd() throws {
        var random = SeededGenerator(seed: Self.seed)
        let alphabet = Array("abc1-.:@/?#%[]\\é\u{FF0E}\u{FF0F}\u{3002}_ \u{AD}")
        for _ in 0..<10_000 {
            let value = String(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    alphabet.randomElement(using: &random) ?? "x"
                })
            for url in [
                "https://\(value).example.com/x", "https://api-\(value).example.com/x",
                "https://api.\(value).example.com:80/x",
            ] as [EndpointURL] where url.fault == nil {
                guard let parsed = try? HTTPURL(parsingEndpoint: url.text) else { continue }
                #expect(
                    parsed.host?.hasSuffix(".example.com") == true && parsed.path == "/x"
                        && parsed.userInfo == nil && parsed.host?.contains("..") == false,
                    "seed \(Self.seed): \(url)")
            }
        }
    }

    /// A URL with a value, composed into another one in every way, gets no host of the value but the one it had.
    @Test func valuesOfOtherURLsAreNoHost() {
        let literals = [
            "", " ", "/", "//", ":", "://", "https:", "https:/", "https://", "h.example", "x", "@",
            "?",
        ]
        var accepted = 0
        for before in literals {
            for start in literals {
                for end in literals {
                    let inner: EndpointURL = "\(raw: start)\("evil.example")\(raw: end)"
                    let url: EndpointURL = "\(raw: before)\(inner)\(raw: "/x")"
                    guard url.fault == nil else { continue }
                    accepted += 1
                    let isOwn = start == "https://" && before.allSatisfy { $0 == " " }
                    let host =
                        url.isAbsolute ? (try? HTTPURL(parsingEndpoint: url.text))?.host : nil
                    #expect(host?.contains("evil") != true || isOwn, "\(url)")
                }
            }
        }
        #expect(accepted > 100)
    }
}
