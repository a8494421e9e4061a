import ErrandHTTP
import Foundation
import Testing

/// A URL as Foundation's, and without what may be secret.
struct HTTPURLConversionTests {
    @Test(arguments: [
        "https://example.com/a%20b?q=1#f", "http://[::1]:8080/", "/path?x", "https://u:p@h/",
    ])
    func foundationGetsTheSameText(text: String) throws {
        #expect(try HTTPURL(parsing: text).url?.absoluteString == text)
    }

    @Test func invalidURLHasNoFoundationURL() throws {
        var url = try HTTPURL(parsing: "https://example.com/")
        url.host = "a b"
        #expect(url.url == nil)
    }

    @Test(arguments: [
        ("https://user:hush@example.com/a?hush#hush", "https://example.com/a"),
        ("https://example.com/a", "https://example.com/a"), ("/x?hush", "/x"), ("#hush", ""),
    ])
    func secretsAreLeftOut(text: String, expected: String) throws {
        let url = try HTTPURL(parsing: text)
        #expect(url.withoutSecrets.string == expected)
        #expect(url.string == text)
    }
}
