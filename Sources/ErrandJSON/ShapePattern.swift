import Synchronization

/// A compiled regular expression that can be used from several threads.
final class ShapePattern: Sendable {
    let expression: String
    // text of servers: bounded by maximumTextBytes
    private let regex: Mutex<Regex<AnyRegexOutput>>

    /// Compiles an expression; returns nil if it does not compile.
    init?(_ expression: String) {
        // text of the author: the expression
        guard let compiled = try? Regex(expression) else { return nil }
        self.expression = expression
        regex = Mutex(compiled)
    }

    /// The maximum length of a text in bytes; a longer one does not match.
    ///
    /// At each position, an expression may read the whole rest of the text.
    static let maximumTextBytes = 4096

    /// Whether the text is short enough and contains a match.
    func isFound(in text: String) -> Bool {
        guard text.utf8.count <= Self.maximumTextBytes else { return false }
        return regex.withLock { regex in
            // text of servers: bounded above; an error in the matcher counts as no match
            (try? regex.firstMatch(in: text)) != nil
        }
    }
}
