import Foundation

/// The resource usage of the process.
enum Meter {
    /// User and system time in microseconds.
    static var cpu: Double {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        func micros(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
        return micros(usage.ru_utime) + micros(usage.ru_stime)
    }

    /// Resident bytes and threads from `/proc/self/status`; zero on other systems.
    static var memoryAndThreads: (bytes: Int, threads: Int) {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func number(_ name: String) -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
        return (number("VmRSS") << 10, number("Threads"))
    }
}
