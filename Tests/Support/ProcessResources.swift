#if os(Linux)
    import Foundation
    import Glibc

    /// The open file descriptors and the memory of this process.
    package enum ProcessResources {
        package static func openDescriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }

        /// Raises the soft limit of open descriptors, if it is lower and the hard limit permits it.
        package static func raiseLimit(to count: UInt) {
            var limit = rlimit()
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            getrlimit(resource, &limit)
            guard limit.rlim_cur < count else { return }
            limit.rlim_cur = min(count, limit.rlim_max)
            setrlimit(resource, &limit)
        }

        /// Lets this process open no more descriptors; those that are open stay usable.
        package static func allowNoMoreDescriptors() {
            var limit = rlimit()
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            getrlimit(resource, &limit)
            // The lowest free number: with a lower limit, poll(2) would not have enough of them.
            let free = dup(0)
            close(free)
            limit.rlim_cur = rlim_t(free)
            setrlimit(resource, &limit)
        }

        /// The resident memory of this process.
        package static func residentBytes() -> Int {
            let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let pages = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        }

        /// Waits at most 10 seconds until at most `limit` descriptors are open.
        ///
        /// - Returns: false if more descriptors are open at the end.
        package static func waitForDescriptors(untilAtMost limit: Int) throws -> Bool {
            for _ in 0..<10_000 {
                if try openDescriptors() <= limit { return true }
                usleep(1000)
            }
            return try openDescriptors() <= limit
        }
    }
#endif
