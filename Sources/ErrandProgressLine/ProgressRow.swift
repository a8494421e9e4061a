import ErrandHTTP

/// One transfer on the display, and its line; pure.
struct ProgressRow: Sendable {
    enum State: Sendable, Hashable {
        case waiting, running, paused
        case finished(String)
        case failed(String)
    }

    /// The widths of the columns of all rows, and the characters of the bar.
    struct Layout: Sendable {
        /// The number of columns of the terminal.
        let columns: Int
        /// The number of columns for names.
        let name: Int
        let style: ProgressDisplay.Style

        private static let percent = 5, bytes = 20, rate = 10, time = 9, gap = 2
        private static let bars = 10...40

        init(columns: Int, names: [String], style: ProgressDisplay.Style) {
            self.columns = columns
            self.style = style
            let longest = names.lazy.map { DisplayWidth.of($0) }.max() ?? 0
            name = max(4, min(longest, max(12, columns * 2 / 5)))
        }

        /// The parts that fit, with the width of the bar.
        ///
        /// The bar goes first, then the bytes, then the time, then the rate.
        var parts: (bar: Int, bytes: Bool, time: Bool, rate: Bool) {
            let least = name + Self.gap + Self.percent
            let rate = least + Self.gap + Self.rate
            let time = rate + Self.gap + Self.time
            let bytes = time + Self.gap + Self.bytes
            let bar = columns - bytes - Self.gap
            return (
                bar >= Self.bars.lowerBound ? min(bar, Self.bars.upperBound) : 0, columns >= bytes,
                columns >= time, columns >= rate
            )
        }

        func line(
            _ name: String, fraction: Double?, bytes: String, rate: Double?, timeLeft: Duration?
        ) -> String {
            let parts = parts
            var line = padded(name)
            if parts.bar > 0 { line += "  " + bar(fraction, parts.bar) }
            line += "  " + right(fraction.map(ProgressText.percent) ?? "", Self.percent)
            if parts.bytes { line += "  " + right(bytes, Self.bytes) }
            if parts.rate { line += "  " + right(rate.map(ProgressText.rate) ?? "", Self.rate) }
            if parts.time {
                line += "  " + right(timeLeft.map { ProgressText.time($0) } ?? "", Self.time)
            }
            return cut(line)
        }

        /// A line of a name and free text.
        func line(_ name: String, _ text: String) -> String { cut(padded(name) + "  " + text) }

        /// Limits text to the columns of the terminal, without blanks at the end.
        func cut(_ text: String) -> String {
            var text = DisplayWidth.of(text) <= columns ? text : shortened(text, columns)
            while text.utf8.last == 0x20 { text.unicodeScalars.removeLast() }
            return text
        }

        private func padded(_ name: String) -> String {
            DisplayWidth.padding(shortened(name, self.name), to: self.name)
        }

        private func shortened(_ text: String, _ columns: Int) -> String {
            DisplayWidth.shortening(text, to: columns, mark: style == .unicode ? "…" : "~")
        }

        private func right(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - DisplayWidth.of(text))) + text
        }

        private func bar(_ fraction: Double?, _ width: Int) -> String {
            let full = Int((fraction ?? 0) * Double(width))
            let (done, rest) = style == .unicode ? ("█", "░") : ("#", "-")
            return String(repeating: done, count: full)
                + String(repeating: fraction == nil ? " " : rest, count: width - full)
        }
    }

    let name: String
    let direction: ProgressDisplay.Direction
    var state: State
    var progress = TransferProgress()

    var isEnded: Bool {
        switch state {
        case .waiting, .running, .paused: false
        case .finished, .failed: true
        }
    }

    var bytes: Int64 { direction == .download ? progress.bytesReceived : progress.bytesSent }

    var total: Int64? {
        direction == .download ? progress.totalBytesToReceive : progress.totalBytesToSend
    }

    var rate: Double? {
        guard state == .running else { return nil }
        return direction == .download
            ? progress.bytesReceivedPerSecond : progress.bytesSentPerSecond
    }

    func line(_ layout: Layout) -> String {
        switch state {
        case .waiting: layout.line(name, "waiting")
        case .paused: layout.line(name, "paused" + (bytes > 0 ? ", \(size)" : ""))
        case .failed(let message): layout.line(name, "failed: \(message)")
        case .finished(let text):
            layout.line(name, ProgressText.bytes(bytes) + (text.isEmpty ? "" : "  " + text))
        case .running:
            layout.line(
                name, fraction: fraction, bytes: size, rate: rate, timeLeft: timeLeft)
        }
    }

    /// The text of the row without a terminal.
    var plainText: String {
        switch state {
        case .waiting: return "\(name): waiting"
        case .paused: return "\(name): paused, \(size)"
        case .failed(let message): return "\(name): failed: \(message)"
        case .finished(let text):
            return "\(name): \(ProgressText.bytes(bytes))" + (text.isEmpty ? "" : ", \(text)")
        case .running:
            var parts = [size]
            if let fraction { parts.insert(ProgressText.percent(fraction), at: 0) }
            if let rate { parts.append(ProgressText.rate(rate)) }
            if let timeLeft { parts.append("\(ProgressText.time(timeLeft)) left") }
            return "\(name): " + parts.joined(separator: ", ")
        }
    }

    private var fraction: Double? {
        direction == .download ? progress.fractionReceived : progress.fractionSent
    }

    private var timeLeft: Duration? { total == nil ? nil : progress.timeLeft }

    /// The bytes, and the total if it is known.
    private var size: String { Self.size(bytes, of: total) }

    static func size(_ bytes: Int64, of total: Int64?) -> String {
        guard let total else { return ProgressText.bytes(bytes) }
        return ProgressText.bytes(bytes) + " of " + ProgressText.bytes(total)
    }
}
