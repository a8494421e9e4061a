import Synchronization

/// A compiled regular expression that several threads may use.
final class ShapePattern: Sendable {
    let expression: String
    private let regex: Mutex<Regex<AnyRegexOutput>>

    /// Compiles an expression; nil if it does not compile.
    init?(_ expression: String) {
        guard let compiled = try? Regex(expression) else { return nil }
        self.expression = expression
        regex = Mutex(compiled)
    }

    /// Whether the expression is found anywhere in `text`.
    func isFound(in text: String) -> Bool {
        regex.withLock { regex in
            // A failure inside the matcher counts as no match.
            (try? regex.firstMatch(in: text)) != nil
        }
    }
}
