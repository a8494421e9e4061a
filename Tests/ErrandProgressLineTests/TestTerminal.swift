import Synchronization

@testable import ErrandProgressLine

/// A terminal that interprets what a display writes: text, line feeds, and the sequences that the display uses.
struct TestTerminal {
    private(set) var lines: [String] = [""]
    private var row = 0
    private var column = 0
    let columns: Int

    init(columns: Int) { self.columns = columns }

    /// The lines without blanks at the end, up to the last one that has text.
    var text: [String] {
        var trimmed = lines.map { line in
            var line = line
            while line.last == " " { line.removeLast() }
            return line
        }
        while trimmed.last == "" { trimmed.removeLast() }
        return trimmed
    }

    mutating func write(_ text: String) {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\u{1B}":
                // A number and a letter follow.
                precondition(rest.popFirst() == "[")
                let digits = rest.prefix { $0.properties.numericType != nil }
                rest = rest.dropFirst(digits.count)
                if let letter = rest.popFirst() { escape(letter, Int(String(digits)) ?? 1) }
            case "\n":
                row += 1
                column = 0
                if row == lines.count { lines.append("") }
            case "\r": column = 0
            default: put(Character(scalar))
            }
        }
    }

    private mutating func escape(_ letter: Unicode.Scalar, _ number: Int) {
        switch letter {
        case "A": row = max(0, row - number)
        case "K": lines[row] = String(lines[row].prefix(column))
        case "J":
            lines[row] = String(lines[row].prefix(column))
            lines.removeSubrange((row + 1)...)
        default: preconditionFailure("Unknown sequence \(letter).")
        }
    }

    /// One column for each scalar, which is enough for the texts of the tests.
    private mutating func put(_ character: Character) {
        var cells = Array(lines[row])
        while cells.count < column { cells.append(" ") }
        if column < cells.count { cells[column] = character } else { cells.append(character) }
        lines[row] = String(cells)
        column += 1
        precondition(column < columns, "The line is too long: \(lines[row])")
    }
}

/// Records what a display writes.
final class RecordedOutput: ProgressOutput {
    private let state: Mutex<(text: String, size: ProgressScreen.Size?)>

    init(_ size: ProgressScreen.Size?) { state = Mutex(("", size)) }

    var size: ProgressScreen.Size? { state.withLock { $0.size } }
    var text: String { state.withLock { $0.text } }
    func write(_ text: String) { state.withLock { $0.text += text } }
}
