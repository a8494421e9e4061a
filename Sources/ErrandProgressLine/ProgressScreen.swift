import ErrandHTTP

/// The rows of a display and the text that shows them; pure.
///
/// ``draw(_:)`` returns what brings a terminal from the last drawing to the present state: the cursor moves up over the
/// lines of the last drawing, ended rows are written once and scroll away, and the others are written below them.
struct ProgressScreen: Sendable {
    /// The size of the terminal.
    struct Size: Sendable, Hashable {
        var columns: Int
        var rows: Int
    }

    private let style: ProgressDisplay.Style
    private var rows: [Int: ProgressRow] = [:]
    /// The keys of the rows that have not been written for the last time, in the order of their addition.
    private var open: [Int] = []
    private var nextKey = 0
    /// Lines above the rows that were not written yet.
    private var pending: [String] = []
    /// The widths of the lines of the last drawing.
    private var drawn: [Int] = []
    /// Sums over the rows that have ended.
    private var ended = (count: 0, bytes: Int64(0))

    init(style: ProgressDisplay.Style) { self.style = style }

    // MARK: - Changes

    mutating func add(_ name: String, _ direction: ProgressDisplay.Direction) -> Int {
        defer { nextKey += 1 }
        rows[nextKey] = ProgressRow(
            name: DisplayWidth.printable(name), direction: direction, state: .waiting)
        open.append(nextKey)
        return nextKey
    }

    /// Takes the progress of a row; a waiting row runs then.
    ///
    /// Rows that have ended do not change.
    mutating func update(_ key: Int, _ progress: TransferProgress) {
        change(key) { row in
            row.progress = progress
            if row.state == .waiting { row.state = .running }
        }
    }

    mutating func set(_ key: Int, _ state: ProgressRow.State) {
        change(key) { row in
            row.state =
                switch state {
                case .finished(let text): .finished(DisplayWidth.printable(text))
                case .failed(let message): .failed(DisplayWidth.printable(message))
                default: state
                }
        }
    }

    private mutating func change(_ key: Int, _ body: (inout ProgressRow) -> Void) {
        guard var row = rows[key], !row.isEnded else { return }
        body(&row)
        rows[key] = row
    }

    mutating func write(_ line: String) {
        pending += line.pieces(at: "\n", keepingEmpty: true)
            .map { DisplayWidth.printable(String($0)) }
    }

    /// Whether a row has not ended.
    var isActive: Bool { open.contains { rows[$0]?.isEnded == false } }

    // MARK: - Drawing

    mutating func draw(_ size: Size) -> String {
        // Without the last column: some terminals begin a new line as soon as it is written.
        let columns = max(1, size.columns - 1)
        var text = up(size)
        let names = open.compactMap { rows[$0]?.name }
        let layout = ProgressRow.Layout(columns: columns, names: names + [sumName], style: style)
        for line in takePending(layout.cut) + takeEnded({ $0.line(layout) }) {
            text += line + "\u{1B}[K\n"
        }
        drawn = []
        for line in lines(layout, size) {
            text += line + "\u{1B}[K\n"
            drawn.append(DisplayWidth.of(line))
        }
        return text + "\u{1B}[J"
    }

    /// The lines to write without a terminal: what was written, ended rows, and the others if `isDue`.
    mutating func drawPlain(isDue: Bool) -> String {
        let lines =
            takePending { $0 } + takeEnded(\.plainText)
            + (isDue ? running.map(\.plainText) : [])
        return lines.map { $0 + "\n" }.joined()
    }

    /// The name of the line with the sums; empty with a single row.
    private var sumName: String {
        let count = ended.count + open.count
        return count > 1 ? "\(ended.count) of \(count) ended" : ""
    }

    /// Moves the cursor to the first line of the last drawing, also if lines have been wrapped since.
    private func up(_ size: Size) -> String {
        let lines = drawn.reduce(0) { $0 + max(1, ($1 + size.columns - 1) / max(1, size.columns)) }
        return lines > 0 ? "\u{1B}[\(lines)A\r" : ""
    }

    private mutating func takePending(_ cut: (String) -> String) -> [String] {
        defer { pending = [] }
        return pending.map(cut)
    }

    private mutating func takeEnded(_ line: (ProgressRow) -> String) -> [String] {
        var lines: [String] = []
        open.removeAll { key in
            guard let row = rows[key], row.isEnded else { return false }
            lines.append(line(row))
            ended.count += 1
            ended.bytes = TransferProgress.sum(ended.bytes, row.bytes)
            rows[key] = nil
            return true
        }
        return lines
    }

    private var running: [ProgressRow] {
        open.compactMap { rows[$0] }.filter { $0.state == .running }
    }

    /// The lines of the rows that have not ended: at most one less than the terminal has.
    private func lines(_ layout: ProgressRow.Layout, _ size: Size) -> [String] {
        let active = open.compactMap { rows[$0] }
        guard !active.isEmpty else { return [] }
        var room = max(1, size.rows - 1)
        let showsTotal = !sumName.isEmpty && room > 1
        if showsTotal { room -= 1 }
        // Running rows first if not all fit.
        let ordered =
            active.count <= room
            ? active
            : active.filter { $0.state == .running } + active.filter { $0.state != .running }
        let shown = ordered.count <= room ? ordered.count : max(0, room - 1)
        var lines = ordered.prefix(shown).map { $0.line(layout) }
        if shown < ordered.count {
            let rest = ordered.dropFirst(shown)
            let waiting = rest.count { $0.state != .running }
            lines.append(
                layout.cut(
                    "and \(rest.count) more: \(rest.count - waiting) running, \(waiting) waiting"))
        }
        if showsTotal { lines.append(totalLine(active, layout)) }
        return lines
    }

    private func totalLine(_ active: [ProgressRow], _ layout: ProgressRow.Layout) -> String {
        let bytes = active.reduce(ended.bytes) { TransferProgress.sum($0, $1.bytes) }
        let totals = active.map(\.total)
        // Unknown as long as one is unknown.
        let total: Int64? =
            totals.contains(nil)
            ? nil : totals.reduce(ended.bytes) { TransferProgress.sum($0, $1 ?? 0) }
        let rates = active.compactMap(\.rate)
        let rate = rates.isEmpty ? nil : rates.reduce(0, +)
        let left: Duration? =
            if let total, let rate, rate > 0, total >= bytes {
                // More than thirty years is no estimate.
                Double(total - bytes) / rate < 1e9
                    ? .seconds(Double(total - bytes) / rate) : nil
            } else { nil }
        return layout.line(
            sumName, fraction: total.map { $0 > 0 ? min(1, Double(bytes) / Double($0)) : 1 },
            bytes: ProgressRow.size(bytes, of: total), rate: rate, timeLeft: left)
    }
}
