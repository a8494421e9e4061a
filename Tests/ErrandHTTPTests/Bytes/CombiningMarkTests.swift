import ErrandCore
import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// Parsers of text from servers read bytes: a scalar that joins the separator before it to one Swift character does not
/// hide the separator, and an equivalent character is none.
@Suite(.timeLimit(.minutes(1))) struct CombiningMarkTests {
    static let marks = ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}", "\u{E0061}"]

    private func request(cookie: String) -> HTTPFields { [.cookie: cookie] }

    @Test(arguments: marks) func fieldsAreSplit(mark: String) throws {
        #expect(ContentTypePatterns(["text/html"]).match("text/html;\(mark)a=b"))
        #expect(ContentTypePatterns(["*+json"]).match("a/b+json ;\(mark)"))
        #expect(ContentRange("bytes 0-1/\(mark)2") == nil && ContentRange("bytes 0-1/2") != nil)
        #expect(ByteRange.within("bytes=\(mark)0-1", count: 5) == nil)
        #expect(MIMEType.ofFile(named: "a.\(mark).png") == "image/png")
        #expect(ResponseText.charset(of: "a/b; x=\(mark); charset=\(mark)gbk") == "\(mark)gbk")
        let challenge = try #require(
            AuthenticationChallenge.parse([
                "Digest realm=\"\(mark)\", nonce=\"n\", qop=\"auth,\(mark)\""
            ]).first)
        #expect(DigestChallenge(challenge)?.realm == mark)
        let link = LinkField("<\(mark)/a>; rel=\"next \(mark)\"")
        #expect(link?.values.first?.target.utf8.elementsEqual("\(mark)/a".utf8) == true)
    }

    @Test(arguments: marks) func secretsAreFound(mark: String) throws {
        #expect(
            TransportOptions.ProxyPolicy.url("http://u:p@\(mark)h:1").description.contains("p@")
                == false)
        let text =
            "see HTTPS://u:p@h.example/a?token=1\u{20}\(mark) and http://b.example/?q=1\(mark)\""
        let redacted = URLRedaction.text(text)
        #expect(
            !redacted.contains("token=1") && !redacted.contains("u:p") && !redacted.contains("q=1"))
        #expect(URLRedaction.text("no http:// and ://x") == "no http:// and ://x")
    }

    @Test func manyURLsAreRedactedInLinearTime() {
        let text =
            String(repeating: "http://", count: 50_000) + String(repeating: "://", count: 300_000)
        #expect(!URLRedaction.text(text).isEmpty)
    }

    @Test(arguments: marks) func cookiesOfTheRequestReplaceThoseOfTheJar(mark: String) {
        var headers = request(cookie: "a=1;\(mark)b=2; sid=\(mark)own")
        Cookie.add([Cookie(name: "sid", value: "jar", domain: "h")], to: &headers)
        #expect(headers[values: .cookie].joined().contains("jar") == false)
    }

    @Test func equivalentNamesAreDifferentCookies() {
        var headers = request(cookie: "\u{212A}=1")
        Cookie.add([Cookie(name: "K", value: "2", domain: "h")], to: &headers)
        #expect(headers[values: .cookie] == ["\u{212A}=1; K=2"])
        var jar = CookieStorageState()
        for name in ["\u{212A}", "K", "é", "e\u{301}"] {
            _ = jar.put(Cookie(name: name, value: "v", domain: "h.example"), now: Date())
        }
        #expect(jar.count == 4)
        #expect(!CookiePath.matches(request: "/e\u{301}", cookie: "/é"))
        #expect(!CookiePath.matches(request: "/a\u{301}", cookie: "/a"))
        #expect(
            CookiePath.matches(request: "/a", cookie: "/a")
                && CookiePath.matches(request: "", cookie: "/"))
    }

    @Test func onlyASCIILettersHaveCase() {
        // U+212A becomes k in lower case.
        #expect(!AuthenticationChallenge(scheme: "\u{212A}").isOf("K"))
        #expect(HostPattern("*.\u{212A}.example") == HostPattern("*.k.example"))
    }

    @Test(arguments: marks) func checksumFilesAreRead(mark: String) throws {
        let hex = String(repeating: "a", count: 64)
        let file = "\(hex)  \(mark)a\n\(hex.replacingOccurrences(of: "a", with: "b")) *b\r\n"
        let digest = try #require(DownloadedFile.Digest.inChecksumFile(file, for: "\(mark)a"))
        #expect(digest.hex == hex)
        #expect(DownloadedFile.Digest(checksumLine: "SHA256 (\(mark)x) = \(hex)")?.hex == hex)
    }
}
