import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandProgressLine

/// The display and its output.
@Suite(.limited) struct ProgressDisplayTests {
    private func progress(_ bytes: Int64, of total: Int64) -> TransferProgress {
        var progress = TransferProgress()
        progress.bytesReceived = bytes
        progress.totalBytesToReceive = total
        return progress
    }

    private func options(_ change: (inout ProgressDisplay.Options) -> Void)
        -> ProgressDisplay.Options
    {
        var options = ProgressDisplay.Options()
        // Only what a test asks for is drawn.
        options.interval = .seconds(10_000)
        options.plainInterval = .seconds(10_000)
        options.style = .ascii
        change(&options)
        return options
    }

    @Test func terminalIsUpdatedInPlace() {
        let output = RecordedOutput(.init(columns: 80, rows: 24))
        let display = ProgressDisplay(output, options { _ in })
        let line = display.add("a")
        line.update(progress(500, of: 1000))
        display.refresh()
        line.update(progress(1000, of: 1000))
        line.finish("verified")
        display.end()
        var terminal = TestTerminal(columns: 80)
        terminal.write(output.text)
        #expect(terminal.text == ["a     1.00 kB  verified"])
    }

    @Test func otherOutputsGetPlainLines() {
        let output = RecordedOutput(nil)
        let display = ProgressDisplay(output, options { _ in })
        let line = display.add("a")
        line.update(progress(500, of: 1000))
        line.pause()
        line.resume()
        display.write("note")
        display.refresh()
        line.fail("broken")
        display.end()
        #expect(output.text == "note\na: 50 %, 500 B of 1.00 kB\na: failed: broken\n")
    }

    @Test func interactiveOptionPrevailsOverTheOutput() {
        for (size, isInteractive) in [
            (nil, true), (ProgressScreen.Size(columns: 80, rows: 24), false),
        ] {
            let output = RecordedOutput(size)
            let display = ProgressDisplay(output, options { $0.isInteractive = isInteractive })
            display.add("a").finish()
            #expect(output.text.contains("\u{1B}") == isInteractive)
        }
    }

    @Test func displayUpdatesByItselfUntilItsEnd() async {
        let output = RecordedOutput(.init(columns: 80, rows: 24))
        let display = ProgressDisplay(output, options { $0.interval = .milliseconds(10) })
        let line = display.add("a")
        line.update(progress(500, of: 1000))
        while !output.text.contains("50 %") { await Task.yield() }
        display.end()
        line.update(progress(700, of: 1000))
        let text = output.text
        #expect(!text.contains("70 %"))
    }

    @Test func displayIsReleasedWithItsTicker() {
        weak var released: ProgressDisplay?
        do {
            let display = ProgressDisplay(RecordedOutput(nil), options { _ in })
            _ = display.add("a")
            released = display
        }
        #expect(released == nil)
    }

    @Test func fileIsNoTerminal() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-progress-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        let display = ProgressDisplay(file)
        display.add("a").finish()
        display.end()
        try file.close()
        #expect(try String(contentsOf: url, encoding: .utf8) == "a: 0 B\n")
    }
}
