import ErrandHTTP
import ErrandSystem
import Foundation

/// What a display writes to; tests replace the terminal.
protocol ProgressOutput: Sendable {
    /// The size of the terminal; `nil` if the output is none.
    var size: ProgressScreen.Size? { get }
    func write(_ text: String)
}

/// A file descriptor, which may be a terminal.
struct TerminalOutput: ProgressOutput {
    let file: FileHandle

    /// Whether cursor movements have an effect.
    private var isTerminal: Bool {
        isatty(file.fileDescriptor) == 1
            && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    var size: ProgressScreen.Size? {
        guard isTerminal else { return nil }
        var window = winsize()
        guard ioctl(file.fileDescriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else {
            return ProgressScreen.Size(columns: 80, rows: 24)
        }
        return ProgressScreen.Size(
            columns: Int(window.ws_col), rows: window.ws_row > 0 ? Int(window.ws_row) : 24)
    }

    /// A closed output is no reason to end the transfers, so its errors have no effect.
    func write(_ text: String) { try? file.write(contentsOf: Data(text.utf8)) }

    /// Whether the environment names the encoding UTF-8.
    static var isUnicode: Bool {
        let environment = ProcessInfo.processInfo.environment
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }
            .first { !$0.isEmpty } ?? ""
        return locale.uppercasedASCII().contains(bytes: "UTF-8")
            || locale.uppercasedASCII().contains(bytes: "UTF8")
    }
}
