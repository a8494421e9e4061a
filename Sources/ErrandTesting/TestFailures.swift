/// The first failures of a test.
struct TestFailures: Sendable {
    private static let limit = 1_000
    private(set) var texts: [String] = []

    mutating func add(_ text: String) {
        if texts.count < Self.limit { texts.append(text) }
    }
}
