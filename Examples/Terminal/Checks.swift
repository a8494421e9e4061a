/// Counts and prints the checks of an example.
@MainActor
package final class Checks {
    private let screen: Screen
    package private(set) var failures = 0
    package private(set) var count = 0

    package init(_ screen: Screen) { self.screen = screen }

    /// Prints a statement that must be true, and counts it as failed if it is not.
    package func check(_ text: String, _ isTrue: Bool) {
        count += 1
        if isTrue {
            screen.line("✓", text, style: .good)
        } else {
            failures += 1
            screen.line("✗", "FAILED: " + text, style: .bad)
        }
    }
}
