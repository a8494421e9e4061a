/// A second interpretation of event streams, written for comparison: it has all bytes at once and
/// shares no code with the parser.
struct NaiveEventStream {
    struct Event: Equatable {
        var type: String
        var data: String
        var id: String
    }

    var events: [Event] = []
    var lastEventID = ""
    /// The digits of the last valid `retry` field.
    var retry: String?

    /// Interprets the bytes in the order of the HTML standard: decoding, lines, fields.
    init(_ bytes: [UInt8]) {
        var text = String(decoding: bytes, as: UTF8.self).unicodeScalars.map(\.self)
        if text.first == "\u{FEFF}" { text.removeFirst() }
        var lines: [[Unicode.Scalar]] = []
        var line: [Unicode.Scalar] = []
        var previous: Unicode.Scalar = " "
        for scalar in text {
            if scalar == "\r" || (scalar == "\n" && previous != "\r") {
                lines.append(line)
                line = []
            } else if scalar != "\n" {
                line.append(scalar)
            }
            previous = scalar
        }
        var (data, type, id) = ("", "", "")
        for line in lines {
            if line.isEmpty {
                lastEventID = id
                if !data.isEmpty {
                    data.unicodeScalars.removeLast()
                    events.append(
                        Event(type: type.isEmpty ? "message" : type, data: data, id: id))
                }
                (data, type) = ("", "")
                continue
            }
            let name = Self.text(line.prefix { $0 != ":" })
            var value = line.drop { $0 != ":" }.dropFirst()
            if value.first == " " { value = value.dropFirst() }
            switch name {
            case "data": data += Self.text(value) + "\n"
            case "event": type = Self.text(value)
            case "id"
            where value.allSatisfy(Self.isInHeaders) && Self.text(value).utf8.count <= 4096:
                id = Self.text(value)
            case "retry" where !value.isEmpty && value.allSatisfy { ("0"..."9").contains($0) }:
                retry = Self.text(value)
            default: break
            }
        }
    }

    /// Whether a header field can contain the scalar.
    private static func isInHeaders(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\t" || (scalar >= " " && scalar != "\u{7F}")
    }

    private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}
