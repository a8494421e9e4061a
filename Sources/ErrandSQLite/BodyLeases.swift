import Synchronization

/// The bodies that are being read in this process, by their numbers.
///
/// The numbers are random, so that one table serves all stores of the process.
final class BodyLeases: Sendable {
    static let shared = BodyLeases()

    private let counts = Mutex<[Int64: Int]>([:])

    var ids: Set<Int64> { counts.withLock { Set($0.keys) } }

    func contains(_ id: Int64) -> Bool { counts.withLock { $0[id] != nil } }

    /// Holds a body until the lease is deallocated.
    final class Lease: Sendable {
        private let id: Int64

        init(_ id: Int64) {
            self.id = id
            BodyLeases.shared.counts.withLock { $0[id, default: 0] += 1 }
        }

        deinit {
            BodyLeases.shared.counts.withLock { counts in
                guard let count = counts[id] else { return }
                counts[id] = count > 1 ? count - 1 : nil
            }
        }
    }
}
