import Foundation
import Synchronization

/// Identities that are unique in this process and most likely everywhere: random bits drawn once,
/// and a counter.
///
/// A UUID of its own for every request would cost a system call each.
enum TaskID {
    private static let base = UUID().uuid
    private static let counter = Atomic<UInt64>(0)

    /// What counts up from one identity to the next: the order in which tasks were made.
    static func ticket(of id: UUID) -> UInt64 {
        let bytes = id.uuid
        return [bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15].reduce(0) {
            $0 << 8 | UInt64($1)
        }
    }

    static func next() -> UUID {
        let count = counter.add(1, ordering: .relaxed).newValue
        func byte(_ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: count >> (8 * index)) }
        // Version 8 (RFC 9562 §5.8): custom content; the two marked bytes keep version and variant.
        return UUID(
            uuid: (
                base.0, base.1, base.2, base.3, base.4, base.5, (base.6 & 0x0f) | 0x80, base.7,
                (base.8 & 0x3f) | 0x80, base.9, byte(5), byte(4), byte(3), byte(2), byte(1), byte(0)
            ))
    }
}
