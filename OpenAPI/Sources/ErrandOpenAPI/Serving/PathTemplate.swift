/// The path of an operation, compared with those of requests.
struct PathTemplate {
    private enum Part {
        /// Text without escapes.
        case text(String)
        case variable(String)
    }

    /// The parts of each segment.
    private let segments: [[Part]]
    /// The number of variables.
    let count: Int

    init(_ operation: Operation) {
        let path = operation.path.prefix { $0 != "#" && $0 != "?" }
        segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            Self.parts(of: segment, operation)
        }
        count = segments.joined().count { if case .variable = $0 { true } else { false } }
    }

    private static func parts(of segment: Substring, _ operation: Operation) -> [Part] {
        var parts: [Part] = []
        var rest = segment
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = String(rest[rest.index(after: open)..<close])
            let parameter = operation.parameters.first { $0.name == name && $0.location == .path }
            var text = rest[..<open].percentDecoded
            if parameter?.style == "label" { text += "." }
            if parameter?.style == "matrix" { text += ";" }
            if !text.isEmpty { parts.append(.text(text)) }
            parts.append(.variable(name))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(rest.percentDecoded)) }
        return parts
    }

    /// The values of the variables with their escapes; `nil` if it is another path.
    func values(of path: String) -> [String: String]? {
        let found = path.split(separator: "/", omittingEmptySubsequences: false)
        guard found.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (text, parts) in zip(found, segments) {
            guard Self.match(text, parts[...], &values) else { return nil }
        }
        return values
    }

    /// Whether a segment matches; a variable has as little text as possible, and at least one character.
    private static func match(
        _ text: Substring, _ parts: ArraySlice<Part>, _ values: inout [String: String]
    ) -> Bool {
        switch parts.first {
        case nil: return text.isEmpty
        case .text(let literal):
            let rest = text.dropFirst(literal.count)
            if text.hasPrefix(literal), match(rest, parts.dropFirst(), &values) { return true }
            // The text may have escapes that the literal has not.
            return parts.count == 1 && text.percentDecoded == literal
        case .variable(let name):
            var end = text.startIndex
            while end < text.endIndex {
                end = text.index(after: end)
                guard match(text[end...], parts.dropFirst(), &values) else { continue }
                values[name] = String(text[..<end])
                return true
            }
            return false
        }
    }
}
