/// A value in a box, which is copied when a copy of this structure changes it.
///
/// For large values that are rarely set. The members are inlinable, so that other modules specialize
/// them (decision 17).
@usableFromInline
package struct CopyOnWrite<Value: Sendable>: Sendable {
    // @unchecked: the value is changed only while there is one reference to the box.
    @usableFromInline final class Box: @unchecked Sendable {
        @usableFromInline var value: Value

        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    @inlinable package init(_ value: Value) { box = Box(value) }

    /// The value; a change is in place if no copy shares it.
    @inlinable package var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }

    /// Changes the value, in place if no copy shares it.
    @inlinable package mutating func change(_ change: (inout Value) -> Void) {
        if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
        change(&box.value)
    }
}
