import Synchronization

/// A reference that the first of several threads stores.
///
/// The same as `AtomicLazyReference`, of which each load calls functions that are not specialized: 650 instructions.
package struct LazyReference<Value: AnyObject & Sendable>: ~Copyable, Sendable {
    /// The address of the retained object; 0 for none.
    private let address = Atomic<UInt>(0)

    package init() {}

    deinit { Self.object(at: address.load(ordering: .acquiring))?.release() }

    /// Returns the stored object; `nil` for none.
    package func load() -> Value? {
        Self.object(at: address.load(ordering: .acquiring))?.takeUnretainedValue()
    }

    /// Stores an object unless there is one; returns the one that is stored.
    package func storeIfNil(_ value: consuming Value) -> Value {
        let object = Unmanaged.passRetained(value)
        let (isStored, other) = address.compareExchange(
            expected: 0, desired: UInt(bitPattern: object.toOpaque()),
            ordering: .acquiringAndReleasing)
        guard !isStored, let stored = Self.object(at: other) else {
            return object.takeUnretainedValue()
        }
        object.release()
        return stored.takeUnretainedValue()
    }

    private static func object(at address: UInt) -> Unmanaged<Value>? {
        UnsafeRawPointer(bitPattern: address).map { .fromOpaque($0) }
    }
}
