/// What the example claims, and whether it is so.
@MainActor
final class Claims {
    private let screen: Screen
    private(set) var failures = 0
    private(set) var count = 0

    init(_ screen: Screen) { self.screen = screen }

    /// Says a sentence that must be true.
    func claim(_ text: String, _ isTrue: Bool) {
        count += 1
        if isTrue {
            screen.line("✓", text, style: .good)
        } else {
            failures += 1
            screen.line("✗", "NOT TRUE: " + text, style: .bad)
        }
    }
}
