package import ErrandSystem

/// Formats single values as text, in the same way for queries, forms, multipart bodies and JSON.
package struct ArgumentText {
    package let encoding: ArgumentEncoding

    /// A number as the shortest text that parses to the same value; whole numbers have no fraction.
    package static func number(_ value: Double, name: String) throws(RequestError) -> String {
        guard value.isFinite else {
            throw invalid(
                name, "is \(value), which cannot be encoded; leave it out or send a string")
        }
        let text = value.description
        return text.dropping(suffix: ".0").map { String($0) } ?? text
    }

    /// A decimal number as text.
    package static func decimal(_ value: Decimal, name: String) throws(RequestError) -> String {
        guard value.isFinite else {
            throw invalid(
                name,
                "is not a number (NaN), which cannot be encoded; leave it out or send a string")
        }
        return value.description
    }

    /// A date in the encoding's style, as a number or a string.
    package func date(_ date: Date, name: String) throws(RequestError) -> Arguments.Node {
        let seconds = date.timeIntervalSince1970
        switch encoding.dates {
        case .custom(let make):
            return .string(make(date))
        case .secondsSince1970:
            if let whole = Int64(exactly: seconds) { return .integer(whole) }
            return .double(seconds)
        case .millisecondsSince1970:
            guard let whole = Int64(exactly: (seconds * 1000).rounded()) else {
                throw Self.invalid(name, "is a date out of range for milliseconds since 1970")
            }
            return .integer(whole)
        case .iso8601, .iso8601Milliseconds:
            var hasMilliseconds = false
            if case .iso8601Milliseconds = encoding.dates { hasMilliseconds = true }
            guard let text = ArgumentDateText.text(of: seconds, milliseconds: hasMilliseconds)
            else {
                throw Self.invalid(name, "is a date outside the years 0 to 9999")
            }
            return .string(text)
        }
    }

    /// The value with its dates as text if their style is custom, so that the closure of the style
    /// is called once for each date of a value that is written twice.
    package func replacingCustomDates(in node: Arguments.Node, depth: Int = 0) -> Arguments.Node {
        // The writers refuse a value that is nested too deep.
        guard case .custom(let make) = encoding.dates, depth <= Self.maximumDepth else {
            return node
        }
        switch node {
        case .date(let date): return .string(make(date))
        case .array(let nodes):
            return .array(nodes.map { replacingCustomDates(in: $0, depth: depth + 1) })
        case .set(let nodes):
            return .set(nodes.map { replacingCustomDates(in: $0, depth: depth + 1) })
        case .object(var arguments):
            for index in arguments.items.indices {
                let node = arguments.items[index].node
                arguments.items[index].node = replacingCustomDates(in: node, depth: depth + 1)
            }
            return .object(arguments)
        default: return node
        }
    }

    /// Bytes as text in the encoding's style.
    package func data(_ data: Data) -> String {
        switch encoding.data {
        case .base64: return data.base64EncodedString()
        case .hex: return data.lowercaseHex
        }
    }

    /// The error for an argument that cannot be encoded; it contains the name, never the value.
    package static func invalid(_ name: String, _ problem: String) -> RequestError {
        RequestError(.invalidArguments, stage: .build, "The argument \"\(name)\" \(problem).")
    }

    /// The maximum nesting depth of arguments; the limit protects the stack.
    package static let maximumDepth = 128

    package static func tooDeep(_ name: String) -> RequestError {
        invalid(name, "is nested more than \(maximumDepth) levels deep")
    }
}

/// Formats ISO 8601 dates in the proleptic Gregorian calendar, without the cost of a `DateFormatter`.
package enum ArgumentDateText {
    package static func text(of seconds: Double, milliseconds: Bool) -> String? {
        let unit = milliseconds ? 1000.0 : 1
        guard let ticks = Int64(exactly: (seconds * unit).rounded(.down)) else { return nil }
        let perDay = Int64(86_400 * unit)
        let days = floorDivided(ticks, by: perDay)
        let rest = ticks - days * perDay
        let (year, month, day) = civilDate(daysSince1970: days)
        guard (0...9999).contains(year) else { return nil }
        let second = rest / Int64(unit)
        var text =
            "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
            + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
        if milliseconds { text += "." + padded(rest % 1000, 3) }
        return text + "Z"
    }

    /// Converts days since 1970 with eras of 400 years that start on 1 March, so that a leap day comes last.
    private static func civilDate(daysSince1970 days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = floorDivided(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivided(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
