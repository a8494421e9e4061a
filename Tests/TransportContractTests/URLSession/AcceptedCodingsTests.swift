import Testing

@testable import ErrandURLSession

/// The content codings that a value of Accept-Encoding accepts (RFC 9110 §12.5.3).
@Suite("AcceptedCodings")
struct AcceptedCodingsTests {
    @Test(arguments: [
        ("gzip", "gzip", true), ("gzip", "br", false), ("gzip, br", "br", true),
        ("GZIP", "gzip", true), ("gzip", "x-gzip", true), ("x-gzip", "gzip", true),
        ("identity", "gzip", false), ("", "gzip", false), ("*", "zstd", true),
        ("gzip;q=0", "gzip", false), ("gzip; q=0.0, *", "gzip", false), ("gzip;q=0, *", "br", true),
        ("br;q=0.1", "br", true), ("*;q=0", "br", false), ("br;q=0.1, *;q=0", "br", true),
        ("br;q=x", "br", true),
    ])
    func valuesAreParsed(value: String, coding: String, isAccepted: Bool) {
        #expect(AcceptedCodings(value).contains(coding) == isAccepted)
    }

    @Test func withoutTheHeaderEveryCodingIsAccepted() {
        #expect(AcceptedCodings(nil).contains("gzip"))
    }
}
