import ErrandHTTP
import Testing

@testable import ErrandProgressLine

/// What a terminal shows after the drawings of a screen.
@Suite struct ProgressScreenTests {
    private func progress(
        _ bytes: Int64, of total: Int64? = nil, rate: Double? = nil
    ) -> TransferProgress {
        var progress = TransferProgress()
        progress.bytesReceived = bytes
        progress.totalBytesToReceive = total
        progress.bytesReceivedPerSecond = rate
        return progress
    }

    private func lines(
        _ screen: inout ProgressScreen, columns: Int = 80, rows: Int = 24
    ) -> [String] {
        var terminal = TestTerminal(columns: columns)
        terminal.write(screen.draw(ProgressScreen.Size(columns: columns, rows: rows)))
        return terminal.text
    }

    // MARK: - One line

    @Test func lineHasBarPercentBytesRateAndTime() {
        var screen = ProgressScreen(style: .ascii)
        let key = screen.add("photo.jpg", .download)
        #expect(lines(&screen) == ["photo.jpg  waiting"])
        screen.update(key, progress(5_000_000, of: 20_000_000, rate: 1_000_000))
        #expect(
            lines(&screen) == [
                "photo.jpg  ####------------   25 %    5.00 MB of 20.0 MB   1.00 MB/s       0:15"
            ])
    }

    @Test func uploadShowsTheBytesOfTheRequest() {
        var screen = ProgressScreen(style: .ascii)
        let key = screen.add("film", .upload)
        var sent = TransferProgress()
        sent.bytesSent = 500
        sent.totalBytesToSend = 1000
        sent.bytesSentPerSecond = 100
        sent.bytesReceived = 7
        screen.update(key, sent)
        let line = lines(&screen)[0]
        #expect(line.contains("50 %") && line.contains("500 B of 1.00 kB"))
        #expect(line.contains("100 B/s") && line.hasSuffix("0:05"))
    }

    @Test func unknownTotalHasNeitherPercentNorTime() {
        var screen = ProgressScreen(style: .ascii)
        let key = screen.add("stream", .download)
        screen.update(key, progress(1500, rate: 10))
        let line = lines(&screen)[0]
        #expect(line.contains("1.50 kB") && line.hasSuffix("10 B/s"))
        #expect(!line.contains("%") && !line.contains("#") && !line.contains("of"))
    }

    /// Each part is omitted as a whole, and no line is longer than the terminal.
    @Test func narrowTerminalsOmitParts() {
        var seen: Set<String> = []
        for columns in 1...120 {
            var screen = ProgressScreen(style: .unicode)
            let key = screen.add("写真-of-the-sunset-from-the-bridge.jpg", .download)
            screen.update(key, progress(5_000_000, of: 20_000_000, rate: 1_000_000))
            let drawn = screen.draw(.init(columns: columns, rows: 24))
            let line = drawn.prefix { $0 != "\u{1B}" }
            #expect(DisplayWidth.of(String(line)) < max(2, columns))
            var parts = ""
            for (mark, letter) in [
                ("░", "b"), ("20.0 MB", "s"), ("0:15", "t"), ("MB/s", "r"), ("25 %", "p"),
            ] where line.contains(mark) { parts += letter }
            seen.insert(parts)
        }
        #expect(seen == ["", "p", "rp", "trp", "strp", "bstrp"])
    }

    @Test func namesOfSeveralLinesAreAligned() {
        var screen = ProgressScreen(style: .ascii)
        for name in ["a", "写真", "longer"] { _ = screen.add(name, .download) }
        var drawn = screen.draw(.init(columns: 80, rows: 24)).split(separator: "\n").map(
            String.init)
        drawn.removeLast()
        #expect(
            drawn[0] == "a             waiting\u{1B}[K"
                && drawn[1] == "写真          waiting\u{1B}[K")
    }

    // MARK: - Ends

    @Test func endedLinesStayAboveTheOthersAndAreWrittenOnce() {
        var screen = ProgressScreen(style: .ascii)
        var terminal = TestTerminal(columns: 80)
        let size = ProgressScreen.Size(columns: 80, rows: 24)
        let keys = ["one", "two", "three"].map { screen.add($0, .download) }
        for key in keys { screen.update(key, progress(100, of: 1000, rate: 100)) }
        terminal.write(screen.draw(size))
        #expect(terminal.text.count == 4 && terminal.text[3].hasPrefix("0 of 3 ended"))
        screen.set(keys[1], .finished("verified"))
        screen.write("a note")
        terminal.write(screen.draw(size))
        terminal.write(screen.draw(size))
        #expect(terminal.text[0] == "a note" && terminal.text[1] == "two           100 B  verified")
        #expect(terminal.text.count == 5 && terminal.text[2].hasPrefix("one "))
        #expect(terminal.text[4].hasPrefix("1 of 3 ended"))
        screen.set(keys[0], .failed("connection\nlost"))
        screen.set(keys[2], .finished(""))
        // Later changes have no effect.
        screen.update(keys[0], progress(900, of: 1000))
        screen.set(keys[2], .paused)
        #expect(!screen.isActive)
        terminal.write(screen.draw(size))
        #expect(
            terminal.text == [
                "a note", "two           100 B  verified",
                "one           failed: connection\u{FFFD}lost",
                "three         100 B",
            ])
    }

    @Test func sumsCountEndedAndRunningTransfers() {
        var screen = ProgressScreen(style: .ascii)
        let keys = ["a", "b", "c"].map { screen.add($0, .download) }
        screen.update(keys[0], progress(1000, of: 1000))
        screen.set(keys[0], .finished(""))
        screen.update(keys[1], progress(500, of: 2000, rate: 100))
        screen.update(keys[2], progress(500, of: 1000, rate: 100))
        let sum = lines(&screen).last ?? ""
        #expect(sum.hasPrefix("1 of") && sum.contains("50 %"))
        #expect(sum.contains("2.00 kB of 4.00 kB") && sum.contains("200 B/s"))
        #expect(sum.hasSuffix("0:10"))
        // Of another transfer, no total is known yet.
        _ = screen.add("d", .download)
        let unknown = lines(&screen).last ?? ""
        #expect(
            unknown.contains("2.00 kB") && !unknown.contains("of 4.00") && !unknown.contains("%"))
    }

    @Test func pausedTransferHasNoRate() {
        var screen = ProgressScreen(style: .ascii)
        let key = screen.add("a", .download)
        screen.update(key, progress(500, of: 2000, rate: 100))
        screen.set(key, .paused)
        #expect(lines(&screen) == ["a     paused, 500 B of 2.00 kB"])
        screen.set(key, .running)
        #expect(lines(&screen)[0].contains("100 B/s"))
    }

    // MARK: - Size of the terminal

    @Test func rowsThatDoNotFitAreCounted() {
        var screen = ProgressScreen(style: .ascii)
        let keys = (0..<10).map { screen.add("file\($0)", .download) }
        screen.update(keys[8], progress(1, of: 2))
        screen.update(keys[9], progress(1, of: 2))
        let drawn = lines(&screen, rows: 6)
        #expect(drawn.count == 5)
        #expect(drawn[0].hasPrefix("file8") && drawn[1].hasPrefix("file9"))
        #expect(drawn[2].hasPrefix("file0"))
        #expect(drawn[3] == "and 7 more: 0 running, 7 waiting")
        for rows in 1...4 { #expect(lines(&screen, rows: rows).count == max(1, rows - 1)) }
    }

    /// A terminal that became narrower has wrapped the lines of the last drawing.
    @Test func cursorMovesOverWrappedLines() {
        var screen = ProgressScreen(style: .ascii)
        let key = screen.add("a", .download)
        screen.update(key, progress(500, of: 2000, rate: 100))
        _ = screen.draw(.init(columns: 100, rows: 24))
        #expect(screen.draw(.init(columns: 30, rows: 24)).hasPrefix("\u{1B}[4A\r"))
        #expect(screen.draw(.init(columns: 30, rows: 24)).hasPrefix("\u{1B}[1A\r"))
    }

    // MARK: - Without a terminal

    @Test func plainLinesAreWrittenForEndsAndWhenDue() {
        var screen = ProgressScreen(style: .ascii)
        let keys = ["a", "b"].map { screen.add($0, .download) }
        screen.update(keys[0], progress(500, of: 2000, rate: 100))
        #expect(screen.drawPlain(isDue: false).isEmpty)
        #expect(
            screen.drawPlain(isDue: true)
                == "a: 25 %, 500 B of 2.00 kB, 100 B/s, 0:15 left\n")
        screen.set(keys[1], .failed("no route"))
        screen.write("note")
        #expect(screen.drawPlain(isDue: false) == "note\nb: failed: no route\n")
        screen.set(keys[0], .finished("verified"))
        #expect(screen.drawPlain(isDue: true) == "a: 500 B, verified\n")
        #expect(screen.drawPlain(isDue: true).isEmpty)
    }
}
