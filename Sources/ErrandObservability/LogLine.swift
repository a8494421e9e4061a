import ErrandSystem

/// A line of a log file: a JSON object with sorted members, and a line feed.
struct LogLine {
    /// The longest text of a member, in UTF-8 bytes.
    static let maximumText = 2000

    private static let numbers: Set<String> = [
        HTTPAttribute.status, HTTPAttribute.responseBodySize, HTTPAttribute.port,
        HTTPAttribute.resendCount, HTTPAttribute.tag,
    ]

    private enum Value: Encodable {
        case text(String)
        case number(Int64)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            }
        }
    }

    let bytes: Data

    init(_ members: [String: String]) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var values: [String: Value] = [:]
        for (name, text) in members {
            if Self.numbers.contains(name), let number = Int64(text) {
                values[name] = .number(number)
            } else {
                values[name] = .text(Self.bounded(text))
            }
        }
        bytes = ((try? encoder.encode(values)) ?? Data("{}".utf8)) + Data("\n".utf8)
    }

    /// The first bytes of a long text, without an incomplete character.
    static func bounded(_ text: String) -> String {
        guard text.utf8.count > maximumText else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: maximumText)
        while end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        return text[..<end] + "…"
    }
}
