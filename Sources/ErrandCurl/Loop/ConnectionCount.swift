#if os(Linux)
    import Synchronization

    /// The number of a loop's sockets that are open or being connected; read on any thread.
    final class ConnectionCount: Sendable {
        private let count = Atomic<Int>(0)

        var value: Int { count.load(ordering: .relaxed) }

        func opened() { count.add(1, ordering: .relaxed) }

        func closed() { count.subtract(1, ordering: .relaxed) }
    }
#endif
