import Foundation
import Synchronization

/// Measures CPU time, wall time and memory from its creation on.
struct Meter {
    private let start = (cpu: Meter.cpu(), wall: ContinuousClock.now)
    private(set) var growth = ""

    /// Records the resident size after `count` requests.
    mutating func note(_ count: Int) { note("\(count)", Self.memory("VmRSS")) }

    /// Records a resident size.
    mutating func note(_ moment: String, _ kilobytes: Int) {
        growth += ", \"rss_\(moment)_kb\": \(kilobytes)"
    }

    /// Adds a number to the report.
    mutating func note(_ name: String, _ value: Double) { growth += ", \"\(name)\": \(value)" }

    /// The measurement as one line of JSON.
    func report(_ job: Job, bad: Int) -> String {
        let wall = (ContinuousClock.now - start.wall) / .seconds(1)
        let cpu = Self.cpu() - start.cpu
        return "{\"workload\": \"\(job.workload)\", \"count\": \(job.count), \"cpu_s\": \(cpu), "
            + "\"wall_s\": \(wall), \"rss_peak_kb\": \(Self.memory("VmHWM")), \"bad\": \(bad)\(growth)}"
    }

    private static func cpu() -> Double {
        var usage = rusage()
        #if os(Linux)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    static func memory(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}

/// The resident size while all requests wait for their responses, which the server sends after three seconds.
final class Waiting: Sendable {
    private let size = Mutex(0)

    init() {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 1.5)
            self.size.withLock { $0 = Meter.memory("VmRSS") }
        }
    }

    var kilobytes: Int { size.withLock { $0 } }
}
