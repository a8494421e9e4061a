#if os(Linux)
    import CLibcurl
    import Dispatch
    import Glibc
    import Synchronization

    /// Closes connections that block the loop within one call of libcurl.
    ///
    /// Over HTTP/2, libcurl 7.88 continues to read within a call until a frame contains something
    /// for the transfer. Over TLS the reads are counted (``SharedReads``). With prior
    /// knowledge and without TLS, no code of the transport runs during the call. While such
    /// connections exist, another thread compares the number of the current call once per second.
    /// If one call lasts from one check to the next, the connections that have unread input are
    /// shut down.
    final class StallWatchdog: Sendable {
        private struct State {
            var sockets: Set<Int32> = []
            var isScheduled = false
            var lastNumber: UInt64 = 0
        }

        private static let interval = DispatchTimeInterval.seconds(1)

        /// Counts the starts and returns of calls: odd within a call.
        private let number = Atomic<UInt64>(0)
        private let state = Mutex(State())

        /// Records that a call of libcurl begins.
        func begin() { number.add(1, ordering: .relaxed) }

        /// Records that the call has returned.
        func end() { number.add(1, ordering: .relaxed) }

        /// Adds the socket of an HTTP/2 connection without TLS.
        func opened(_ socket: Int32) {
            let begins = state.withLock { state in
                state.sockets.insert(socket)
                defer { state.isScheduled = true }
                return !state.isScheduled
            }
            if begins { scheduleCheck() }
        }

        /// Removes a socket that is about to be closed.
        func closed(_ socket: Int32) {
            state.withLock { state in
                if !state.sockets.isEmpty { state.sockets.remove(socket) }
            }
        }

        private func scheduleCheck() {
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.interval) { [weak self] in
                guard let self, check() else { return }
                scheduleCheck()
            }
        }

        /// Checks the current call; returns whether to check again.
        private func check() -> Bool {
            let number = number.load(ordering: .relaxed)
            return state.withLock { state in
                guard !state.sockets.isEmpty else {
                    state.isScheduled = false
                    return false
                }
                if !number.isMultiple(of: 2), number == state.lastNumber {
                    // The lock keeps these sockets from being closed, and their numbers from being
                    // reused, meanwhile.
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
