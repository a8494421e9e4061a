package import ErrandSystem
import Synchronization

/// Creates identifiers from random bits, which are the same for the whole process, and a counter.
///
/// They are unique in this process and, with high probability, in all others. A random UUID for each request would
/// cost a system call.
package enum TaskID {
    private static let base = UUID().uuid
    private static let counter = Atomic<UInt64>(0)

    /// The counter in an identifier, which gives the order in which tasks were created.
    package static func ticket(of id: UUID) -> UInt64 {
        let bytes = id.uuid
        return [bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15].reduce(0) {
            $0 << 8 | UInt64($1)
        }
    }

    package static func next() -> UUID {
        let count = counter.add(1, ordering: .relaxed).newValue
        func byte(_ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: count >> (8 * index)) }
        // A UUID of version 8, with custom content (RFC 9562 §5.8): bytes 6 and 8 contain version and variant.
        return UUID(
            uuid: (
                base.0, base.1, base.2, base.3, base.4, base.5, (base.6 & 0x0f) | 0x80, base.7,
                (base.8 & 0x3f) | 0x80, base.9, byte(5), byte(4), byte(3), byte(2), byte(1), byte(0)
            ))
    }
}
