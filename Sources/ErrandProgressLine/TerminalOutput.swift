import ErrandHTTP
import ErrandSystem

/// What a display writes to; tests replace the terminal.
protocol ProgressOutput: Sendable {
    /// The size of the terminal; `nil` if the output is none.
    var size: ProgressScreen.Size? { get }
    func write(_ text: String)
}

/// A file descriptor, which may be a terminal.
struct TerminalOutput: ProgressOutput {
    let descriptor: Int32
    /// What closes the descriptor when it is deallocated; `nil` if nothing does.
    var owner: (any AnyObject & Sendable)?

    /// Whether cursor movements have an effect.
    private var isTerminal: Bool {
        isatty(descriptor) == 1
            && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    var size: ProgressScreen.Size? {
        guard isTerminal else { return nil }
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else {
            return ProgressScreen.Size(columns: 80, rows: 24)
        }
        return ProgressScreen.Size(
            columns: Int(window.ws_col), rows: window.ws_row > 0 ? Int(window.ws_row) : 24)
    }

    /// A closed output is no reason to end the transfers, so its errors have no effect.
    func write(_ text: String) {
        var text = text
        text.withUTF8 { try? OutputFile.write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

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
