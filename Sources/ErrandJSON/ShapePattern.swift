import Synchronization

/// A compiled regular expression that can be used from several threads.
final class ShapePattern: Sendable {
    let expression: String
    private let regex: Mutex<Regex<AnyRegexOutput>>

    /// Compiles an expression; returns nil if it does not compile.
    init?(_ expression: String) {
        guard let compiled = try? Regex(expression) else { return nil }
        self.expression = expression
        regex = Mutex(compiled)
    }

    /// Whether the text contains a match.
    func isFound(in text: String) -> Bool {
        regex.withLock { regex in
            // An error in the matcher counts as no match.
            (try? regex.firstMatch(in: text)) != nil
        }
    }
}
