#if Redis
    import ErrandHTTP
    import Foundation

    /// Waits for a socket with a time limit shorter than a millisecond.
    enum PreciseWait {
        /// Whether a descriptor can be read, or has ended, within a time.
        ///
        /// Without `ppoll`, the time is rounded up to milliseconds.
        static func forInput(_ descriptor: Int32, nanoseconds: Int64) -> Bool {
            var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            #if os(Linux)
                if let ppoll {
                    var limit = timespec(
                        tv_sec: Int(nanoseconds / 1_000_000_000),
                        tv_nsec: Int(nanoseconds % 1_000_000_000))
                    return ppoll(&descriptor, 1, &limit, nil) > 0
                }
            #endif
            return poll(&descriptor, 1, Int32(clamping: (nanoseconds + 999_999) / 1_000_000)) > 0
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
