#if os(Linux)
    import Foundation
    import Glibc

    /// The open file descriptors of this process.
    enum OpenDescriptors {
        static func count() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }

        /// Waits at most 10 seconds until at most `limit` descriptors are open.
        ///
        /// - Returns: false if more descriptors are open at the end.
        static func wait(untilAtMost limit: Int) throws -> Bool {
            for _ in 0..<10_000 {
                if try count() <= limit { return true }
                usleep(1000)
            }
            return try count() <= limit
        }
    }
#endif
