#if Redis
    import ErrandHTTP
    import ErrandSystem

    /// Waits for a socket with a time limit shorter than a millisecond.
    enum PreciseWait {
        /// Whether a descriptor can be read, or has ended, within a time.
        ///
        /// Without `ppoll`, the time is rounded up to milliseconds.
        ///
        /// - Parameter orOutput: Whether to return as well when the descriptor can be written to.
        static func forInput(
            _ descriptor: Int32, orOutput: Bool = false, nanoseconds: Int64
        ) -> Bool {
            let events = Int16(POLLIN) | (orOutput ? Int16(POLLOUT) : 0)
            var descriptor = pollfd(fd: descriptor, events: events, revents: 0)
            #if os(Linux)
                if let ppoll {
                    var limit = timespec(
                        tv_sec: Int(nanoseconds / 1_000_000_000),
                        tv_nsec: Int(nanoseconds % 1_000_000_000))
                    return ppoll(&descriptor, 1, &limit, nil) > 0
                }
            #endif
            return poll(&descriptor, 1, milliseconds(nanoseconds)) > 0
        }

        /// A time in milliseconds, rounded up.
        static func milliseconds(_ nanoseconds: Int64) -> Int32 {
            Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0))
        }

        #if os(Linux)
            private typealias Function =
                @convention(c) (
                    UnsafeMutablePointer<pollfd>, nfds_t, UnsafePointer<timespec>, UnsafeRawPointer?
                ) -> Int32

            /// The headers of glibc declare it only with `_GNU_SOURCE`, which Swift does not define.
            private static let ppoll: Function? =
                SharedLibrary(alreadyLoaded: "libc.so.6")?.function("ppoll")
        #endif
    }
#endif
