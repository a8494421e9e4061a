/// A value behind one reference, never changed in place.
///
/// Answers, errors and requests pass through a dozen suspended steps; each holds room for one of each. With a
/// reference in their place the steps' frames are small, which is most of what a small request costs.
final class Shared<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }

    /// The same value with a change, behind a reference of its own.
    func changed(_ change: (inout Value) -> Void) -> Shared {
        var value = value
        change(&value)
        return Shared(value)
    }
}
