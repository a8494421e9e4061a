import ErrandSystem

/// Sizes, rates and times as short text; pure.
enum ProgressText {
    private static let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]

    /// A size with three digits in decimal units: `999 B`, `1.50 kB`, `12.3 MB`.
    static func bytes(_ count: Int64) -> String { amount(Double(max(0, count))) }

    /// A rate with three digits: `3.21 MB/s`.
    static func rate(_ bytesPerSecond: Double) -> String {
        amount(bytesPerSecond.isFinite ? max(0, bytesPerSecond) : 0) + "/s"
    }

    /// A time as `0:05`, `12:34`, `1:02:03`, or `2 d 03 h` from a day on; parts of a second count as one.
    static func time(_ duration: Duration) -> String {
        let parts = duration.components
        let seconds = max(0, parts.seconds + (parts.attoseconds > 0 ? 1 : 0))
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        if hours >= 24 { return "\(hours / 24) d \(two(hours % 24)) h" }
        return hours > 0
            ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
    }

    /// A fraction in percent, rounded down, so that 100 % is the end.
    static func percent(_ fraction: Double) -> String { "\(Int(fraction * 100)) %" }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func amount(_ value: Double) -> String {
        if value < 999.5 { return "\(Int(value.rounded())) B" }
        var value = value
        var unit = 0
        // Rounded up, 999.5 of a unit is 1.00 of the next.
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        let digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        return decimal(value, digits: digits) + " " + units[unit]
    }

    /// A number with the given count of digits after the point.
    private static func decimal(_ value: Double, digits: Int) -> String {
        let scale = digits == 2 ? 100 : digits == 1 ? 10 : 1
        let scaled = Int((value * Double(scale)).rounded(.toNearestOrEven))
        guard digits > 0 else { return "\(scaled)" }
        let fraction = "\(scaled % scale)"
        let zeros = String(repeating: "0", count: digits - fraction.utf8.count)
        return "\(scaled / scale).\(zeros)\(fraction)"
    }
}
