import ErrandCore
import ErrandHTTP
import ErrandJSON
import ErrandRecording
import ErrandSystem

/// A recorded request as the source text of an endpoint class; without secrets.
enum SwiftEndpointSource {
    /// Headers that Errand or the body sets.
    private static let ownHeaders: Set<String> = [
        "accept-encoding", "authorization", "content-length", "content-type", "cookie", "host",
        "transfer-encoding", "user-agent",
    ]

    /// The source text of a class for the request.
    static func text(of request: InspectedRequest, _ entry: HAR.Entry) -> String {
        let message = entry.request
        let name = typeName(request.endpoint)
        var members = ["override var url: EndpointURL { \(literal(message.url)) }"]
        if message.method != "GET" {
            members.append("override var method: HTTPMethod { \(method(message.method)) }")
        }
        let headers = message.headers.filter { !ownHeaders.contains($0.name.lowercasedASCII()) }
        if !headers.isEmpty {
            let lines = headers.map {
                "            .custom(\(literal($0.name))): \(literal($0.value)),"
            }
            members.append(
                "override func configure(_ request: inout RequestDescription) {\n"
                    + "        super.configure(&request)\n        request.headers = [\n"
                    + lines.joined(separator: "\n") + "\n        ]\n    }")
        }
        if let data = message.postData {
            let type = data.mimeType.isEmpty ? "nil" : literal(data.mimeType)
            if data.encoding == nil, let text = data.text {
                members.append(
                    "override var body: HTTPBody? {\n        .string(\(literal(text)), contentType: \(type))\n    }"
                )
            } else {
                members.append("// The body of \(message.bodySize) bytes is not text.")
            }
        }
        let hasAuthorization = message.headers.contains {
            $0.name.lowercasedASCII() == "authorization"
        }
        if hasAuthorization {
            members.append("// Set `authorization`, or an authenticator of the configuration.")
        }
        let output = outputType(entry.response.content)
        let heading =
            "final class \(name): BaseRequest" + (output == nil ? " {" : ", DecodableOutput {")
        var lines = [heading]
        if let output { lines.append(indented(output, by: 4) + "\n") }
        lines += members.map { "    \($0)" }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    private static func typeName(_ endpoint: String) -> String {
        let name = String(String.UnicodeScalarView(endpoint.unicodeScalars.filter(isInName)))
        return name.unicodeScalars.first?.properties.isAlphabetic == true ? name : "Recorded\(name)"
    }

    private static func method(_ method: String) -> String {
        let known = ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
        return known.contains(method)
            ? ".\(method.lowercasedASCII())" : "HTTPMethod(\(literal(method)))"
    }

    /// A string literal; raw if the text has quotes, backslashes or line breaks.
    static func literal(_ text: String) -> String {
        let isSimple = text.unicodeScalars.allSatisfy {
            // text of servers: scalars
            $0 != "\"" && $0 != "\\" && isVisible($0)
        }
        if isSimple { return "\"\(text)\"" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case let other where !isVisible(other):
                result += "\\u{\(String(other.value, radix: 16))}"
            case let other: result.unicodeScalars.append(other)
            }
        }
        return result + "\""
    }

    /// Whether a scalar is no control character and not invisible, such as one that changes the direction of text.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: !scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    // MARK: - Output

    /// A `Decodable` structure for a JSON object; `nil` for other bodies.
    private static func outputType(_ content: HAR.Content) -> String? {
        guard content.encoding == nil, let text = content.text,
            let json = try? JSON(parsing: text)
        else { return nil }
        if !json.keys.isEmpty { return structure("Output", json) }
        if let first = json.array?.first, first.object != nil {
            return "typealias Output = [Element]\n" + structure("Element", first)
        }
        return nil
    }

    private static func structure(_ name: String, _ json: JSON) -> String {
        var lines = ["struct \(name): Decodable {"]
        var nested: [String] = []
        // A subscript searches the members from the first one on.
        let members = Dictionary((json.object ?? []).map { ($0.key, $0.value) }) { one, _ in one }
        for (key, value) in members.sorted(by: { $0.key < $1.key }) where isIdentifier(key) {
            let type = typeName(of: value, key, &nested)
            lines.append("    var \(escaped(key)): \(type)")
        }
        lines += nested.map { indented($0, by: 4) }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private static func typeName(of json: JSON, _ key: String, _ nested: inout [String]) -> String {
        if json.object != nil {
            let name = key.prefix(1).uppercasedASCII() + key.dropFirst()
            nested.append(structure(name, json))
            return name
        }
        if let items = json.array {
            guard let first = items.first, !first.isNull else { return "[String]" }
            return "[\(typeName(of: first, key, &nested))]"
        }
        if json.bool != nil { return "Bool" }
        if json.string != nil { return "String" }
        if json.int != nil { return "Int" }
        return json.isNull ? "String?" : "Double"
    }

    private static func isIdentifier(_ key: String) -> Bool {
        guard let first = key.unicodeScalars.first, first.properties.isAlphabetic || first == "_"
        else {
            return false
        }
        return key.unicodeScalars.allSatisfy(isInName)
    }

    private static func isInName(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isAlphabetic
            || scalar.properties.generalCategory == .decimalNumber
    }

    private static let keywords: Set<String> = [
        "as", "break", "case", "class", "default", "do", "else", "enum", "extension", "false",
        "for", "func", "if",
        "import", "in", "init", "is", "let", "nil", "operator", "private", "protocol", "public",
        "repeat", "return",
        "self", "static", "struct", "subscript", "super", "switch", "throw", "true", "try", "var",
        "where", "while",
    ]

    private static func escaped(_ key: String) -> String {
        keywords.contains(key) ? "`\(key)`" : key
    }

    private static func indented(_ text: String, by count: Int) -> String {
        let space = String(repeating: " ", count: count)
        return text.pieces(at: "\n", keepingEmpty: true)
            .map { $0.isEmpty ? "" : space + $0 }.joined(separator: "\n")
    }
}
