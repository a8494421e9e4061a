#if os(Linux)
    import CLibcurl
    import Dispatch
    import Glibc
    import Synchronization

    /// Ends connections that hold the loop within one call of libcurl.
    ///
    /// Over HTTP/2 libcurl 7.88 reads on within a call until a frame has something for the transfer. Where TLS is in use the
    /// reads are counted (Exchange+Flood.swift). With prior knowledge and without TLS nothing of ours is called meanwhile, so
    /// somebody else has to notice: while there are such connections, a look each second compares the number of the call, and
    /// one that has lasted from one look to the next loses the connections that still have something to say.
    final class CallWatch: Sendable {
        private struct State {
            var sockets: Set<Int32> = []
            var isLooking = false
            var lastNumber: UInt64 = 0
        }

        private static let pause = DispatchTimeInterval.seconds(1)

        /// Counts what begins and what ends: odd within a call.
        private let number = Atomic<UInt64>(0)
        private let state = Mutex(State())

        /// A call of libcurl begins.
        func begin() { number.add(1, ordering: .relaxed) }

        /// It has returned.
        func end() { number.add(1, ordering: .relaxed) }

        /// A connection without TLS is opened that speaks HTTP/2.
        func opened(_ socket: Int32) {
            let begins = state.withLock { state in
                state.sockets.insert(socket)
                defer { state.isLooking = true }
                return !state.isLooking
            }
            if begins { lookLater() }
        }

        /// A socket is about to be closed.
        func closed(_ socket: Int32) {
            state.withLock { state in
                if !state.sockets.isEmpty { state.sockets.remove(socket) }
            }
        }

        private func lookLater() {
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.pause) { [weak self] in
                guard let self, look() else { return }
                lookLater()
            }
        }

        /// Whether to look again.
        private func look() -> Bool {
            let number = number.load(ordering: .relaxed)
            return state.withLock { state in
                guard !state.sockets.isEmpty else {
                    state.isLooking = false
                    return false
                }
                if !number.isMultiple(of: 2), number == state.lastNumber {
                    // Under the lock, so that none of them is closed, and its number another's, meanwhile.
                    for socket in state.sockets where errand_unread(socket) > 0 {
                        shutdown(socket, Int32(SHUT_RDWR))
                    }
                }
                state.lastNumber = number
                return true
            }
        }
    }
#endif
