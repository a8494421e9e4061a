/// An immutable value in reference-counted storage.
///
/// Responses, errors and requests pass through many suspended steps, and the async frame of each step has
/// room for one of each. With a reference, the frames stay small, which is most of the cost of a small
/// request (decision 10).
@usableFromInline
package final class Shared<Value: Sendable>: Sendable {
    @usableFromInline package let value: Value

    package init(_ value: Value) { self.value = value }

    /// A new reference to a changed copy of the value.
    package func changed(_ change: (inout Value) -> Void) -> Shared {
        var value = value
        change(&value)
        return Shared(value)
    }
}
