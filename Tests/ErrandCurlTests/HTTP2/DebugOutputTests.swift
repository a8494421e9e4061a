import Testing

@testable import ErrandCurl

/// The lines and events that only libcurl's debug function shows.
struct DebugOutputTests {
    private func inspect(_ watch: inout FirstLineWatch, _ line: String) -> String {
        var bytes = Array(line.utf8)
        bytes.withUnsafeMutableBytes { watch.inspect($0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - First line

    @Test func onlyFirstLineIsWatched() {
        var watch = FirstLineWatch()
        #expect(!watch.isActive)
        #expect(watch.expectLine(isFirst: true, isHTTP2: false) == true)
        #expect(watch.isActive)
        #expect(watch.expectLine(isFirst: true, isHTTP2: false) == false)
        #expect(watch.expectLine(isFirst: false, isHTTP2: false) == true)
        #expect(!watch.isActive)
        #expect(watch.expectLine(isFirst: false, isHTTP2: false) == false)
    }

    @Test func linesOfHTTP2AreNotWatched() {
        var watch = FirstLineWatch()
        #expect(watch.expectLine(isFirst: true, isHTTP2: true) == false)
        #expect(!watch.isActive)
    }

    @Test(arguments: [" a: b", "\ta: b"])
    func foldIsReplaced(line: String) {
        var watch = FirstLineWatch()
        _ = watch.expectLine(isFirst: true, isHTTP2: false)
        #expect(inspect(&watch, line) == "_a: b")
        #expect(watch.hasFold)
    }

    @Test func otherLinesAreNotChanged() {
        var watch = FirstLineWatch()
        #expect(inspect(&watch, " a: b") == " a: b")
        _ = watch.expectLine(isFirst: true, isHTTP2: false)
        for line in ["a: b", "", "\r\n"] { #expect(inspect(&watch, line) == line) }
        #expect(!watch.hasFold)
    }

    // MARK: - Streams

    private func watch(_ events: StreamEvent...) -> StreamWatch {
        var watch = StreamWatch()
        #expect(watch.requestStarts(isWatched: true) == true)
        for event in events { _ = watch.record(event) }
        return watch
    }

    @Test func watchBeginsOnce() {
        var watch = StreamWatch()
        #expect(watch.requestStarts(isWatched: false) == false)
        #expect(!watch.isActive)
        #expect(watch.requestStarts(isWatched: true) == true)
        #expect(watch.isActive)
        #expect(watch.requestStarts(isWatched: true) == false)
        #expect(watch.requestStarts(isWatched: false) == false)
        #expect(watch.isActive)
    }

    @Test func onlyLaterStreamIsBeyondGoAway() {
        #expect(watch(.opened(5), .goAway(last: 3)).isBeyondGoAway(reported: nil))
        #expect(!watch(.opened(5), .goAway(last: 5)).isBeyondGoAway(reported: nil))
        #expect(!watch(.opened(5)).isBeyondGoAway(reported: nil))
        #expect(!watch(.goAway(last: 0)).isBeyondGoAway(reported: nil))
    }

    @Test func goAwayOfAnotherTransferCounts() {
        #expect(watch(.opened(5)).isBeyondGoAway(reported: 3))
        #expect(!watch(.opened(5), .goAway(last: 5)).isBeyondGoAway(reported: 3))
    }

    @Test func unwatchedStreamIsNeverBeyondGoAway() {
        var watch = StreamWatch()
        _ = watch.record(.opened(5))
        _ = watch.record(.goAway(last: 3))
        #expect(!watch.isBeyondGoAway(reported: 3))
    }

    @Test func goAwayIsPassedOn() {
        var watch = StreamWatch()
        #expect(watch.record(.opened(5)) == nil)
        #expect(watch.record(.goAway(last: 3)) == 3)
    }

    @Test func nextRequestForgetsStream() {
        var watch = watch(.opened(5), .goAway(last: 3))
        _ = watch.requestStarts(isWatched: true)
        #expect(!watch.isBeyondGoAway(reported: 3))
        _ = watch.record(.opened(7))
        #expect(!watch.isBeyondGoAway(reported: nil))
    }

    // MARK: - Verbose output

    @Test func eitherWatchNeedsVerboseOutput() {
        var output = DebugOutput()
        #expect(!output.isNeeded)
        _ = output.firstLine.expectLine(isFirst: true, isHTTP2: false)
        #expect(output.isNeeded)
        _ = output.streams.requestStarts(isWatched: true)
        _ = output.firstLine.expectLine(isFirst: false, isHTTP2: false)
        #expect(output.isNeeded)
    }
}
