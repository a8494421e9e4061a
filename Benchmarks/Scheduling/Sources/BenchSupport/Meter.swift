import Foundation

/// The resource usage of the process.
package enum Meter {
    /// User and system time in microseconds.
    package static var cpu: Double {
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
    package static var memoryAndThreads: (bytes: Int, threads: Int) {
        let text = status
        return (number("VmRSS", text) << 10, number("Threads", text))
    }

    /// The largest number of resident bytes so far.
    package static var peakMemory: Int { number("VmHWM", status) << 10 }

    private static var status: String {
        (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    }

    private static func number(_ name: String, _ text: String) -> Int {
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
