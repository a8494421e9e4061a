import Testing

@testable import ErrandProgressLine

/// Sizes, rates and times as text.
@Suite struct ProgressTextTests {
    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (1234, "1.23 kB"), (12_345, "12.3 kB"),
            (99_949, "99.9 kB"),
            (99_950, "100 kB"), (999_499, "999 kB"), (999_500, "1.00 MB"), (9_994_000, "9.99 MB"),
            (9_995_001, "10.0 MB"),
            (1_500_000_000, "1.50 GB"), (.max, "9.22 EB"), (-5, "0 B"),
        ] as [(Int64, String)])
    func bytes(_ count: Int64, text: String) {
        #expect(ProgressText.bytes(count) == text)
    }

    @Test func rates() {
        #expect(ProgressText.rate(3_210_000) == "3.21 MB/s")
        #expect(ProgressText.rate(0.4) == "0 B/s" && ProgressText.rate(-1) == "0 B/s")
        #expect(ProgressText.rate(.infinity) == "0 B/s" && ProgressText.rate(.nan) == "0 B/s")
    }

    @Test(
        arguments: [
            (.zero, "0:00"), (.milliseconds(1), "0:01"), (.seconds(59), "0:59"),
            (.seconds(60), "1:00"),
            (.seconds(3599), "59:59"), (.seconds(3723), "1:02:03"), (.seconds(86_399), "23:59:59"),
            (.seconds(86_400 + 3 * 3600), "1 d 03 h"), (.seconds(-3), "0:00"),
        ] as [(Duration, String)])
    func times(_ duration: Duration, text: String) {
        #expect(ProgressText.time(duration) == text)
    }

    @Test func percentIsHundredOnlyAtTheEnd() {
        #expect(ProgressText.percent(0.9999) == "99 %" && ProgressText.percent(1) == "100 %")
    }
}
