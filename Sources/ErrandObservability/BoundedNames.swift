/// The first values of a dimension, up to a limit; a further value is `_OTHER`, so that values from outside cannot
/// create any number of series.
struct BoundedNames: Sendable {
    static let other = "_OTHER"

    let limit: Int
    private var names: Set<String> = []

    init(limit: Int) { self.limit = limit }

    /// The value of the dimension for a name.
    mutating func value(of name: String) -> String {
        if names.contains(name) { return name }
        guard names.count < limit else { return Self.other }
        names.insert(name)
        return name
    }
}
