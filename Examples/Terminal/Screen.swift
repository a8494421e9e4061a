import Foundation

/// Prints aligned lines, with colours if standard output is a terminal.
package struct Screen: Sendable {
    package enum Style: String, Sendable {
        case plain = "0"
        case bold = "1"
        case dim = "2"
        case good = "32"
        case bad = "1;31"
        case wire = "36"
        case store = "33"
    }

    private let isColoured: Bool

    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let isDumb = environment["TERM"] == nil || environment["TERM"] == "dumb"
        isColoured = isatty(STDOUT_FILENO) == 1 && !isDumb && environment["NO_COLOR"] == nil
    }

    package func title(_ text: String, _ note: String) {
        write("\n" + styled(text, .bold) + "   " + styled(note, .dim))
    }

    package func step(_ number: Int, _ text: String) {
        write("\n" + styled("\(number)".leftPadded(to: 2) + "  " + text, .bold))
    }

    /// Prints a line of three columns: a sign, a subject and a note.
    package func line(
        _ sign: String, _ subject: String, _ note: String = "", width: Int = 46,
        style: Style = .plain
    ) {
        let text = note.isEmpty ? subject : subject.padded(to: width) + note
        write("    " + styled(sign + " " + text, style))
    }

    /// Unlike `print`, writes each line at once, also to a pipe.
    private func write(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private func styled(_ text: String, _ style: Style) -> String {
        isColoured && style != .plain ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }
}

extension String {
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }

    package func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
