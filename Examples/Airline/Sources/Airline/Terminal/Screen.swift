import Foundation

/// Prints aligned lines, with colours if standard output is a terminal.
struct Screen {
    enum Style: String {
        case plain = "0"
        case bold = "1"
        case dim = "2"
        case good = "32"
        case bad = "1;31"
        case wire = "36"
        case store = "33"
    }

    private let isColoured: Bool

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let isDumb = environment["TERM"] == nil || environment["TERM"] == "dumb"
        isColoured = isatty(STDOUT_FILENO) == 1 && !isDumb && environment["NO_COLOR"] == nil
    }

    func title(_ text: String, _ note: String) {
        write("\n" + styled(text, .bold) + "   " + styled(note, .dim))
    }

    func step(_ number: Int, _ text: String) {
        write("\n" + styled("\(number)".leftPadded(to: 2) + "  " + text, .bold))
    }

    /// Prints a line of three columns: a sign, a subject and a note.
    func line(_ sign: String, _ subject: String, _ note: String = "", style: Style = .plain) {
        let text = note.isEmpty ? subject : subject.padded(to: 46) + note
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
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }

    func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
