import ErrandCore
import TestSupport
import Testing

@testable import ErrandObservability

@Suite(.limited) struct SummaryTextTests {
    @Test(arguments: [
        (Duration.zero, "0 ms"), (.microseconds(400), "0.4 ms"), (.microseconds(9_990), "9.9 ms"),
        (.milliseconds(10), "10 ms"), (.milliseconds(9_999), "9999 ms"),
        (.milliseconds(12_340), "12.3 s"), (.seconds(12), "12 s"),
    ])
    func durationsHaveUnits(_ duration: Duration, _ text: String) {
        #expect(RequestSummary.text(duration) == text)
    }

    @Test(arguments: [
        (Int64(0), "0 B"), (9_999, "9999 B"), (12_345, "12.3 kB"), (4_200_000, "4.2 MB"),
        (3_000_000_000, "3 GB"),
    ])
    func sizesHaveUnits(_ bytes: Int64, _ text: String) {
        #expect(RequestSummary.text(bytes: bytes) == text)
    }

    @Test(arguments: [
        ("https://a.example/users/7", "a.example/users/7"),
        ("https://a.example:8443/", "a.example:8443/"),
        (
            "https://a.example/repos/apple/swift-http-types/issues/4",
            "a.example/repos/…/issues/4"
        ),
        (
            "https://a.example/one/two/a-long-name-without-segments",
            "a.example/one/two/a-long-name-without-segments"
        ),
    ])
    func longPathsAreAbbreviated(_ url: String, _ text: String) throws {
        #expect(SanitizedURL.brief(try HTTPURL(parsing: url)) == text)
    }

    @Test(arguments: [
        ("https://u:p@a.example/x?k=v#f", "https://a.example/x?k=REDACTED"),
        ("https://a.example/x?k", "https://a.example/x?REDACTED"),
        ("https://a.example/x?k=a=b&&l=", "https://a.example/x?k=REDACTED&&l=REDACTED"),
    ])
    func urlsHaveNoSecrets(_ url: String, _ text: String) throws {
        #expect(SanitizedURL().text(try HTTPURL(parsing: url)) == text)
    }
}
