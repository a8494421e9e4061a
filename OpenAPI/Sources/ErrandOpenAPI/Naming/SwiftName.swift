/// Names of Swift from names of a document.
enum SwiftName {
    /// A name of a type: `api.v2010.account` becomes `ApiV2010Account`.
    static func type(_ text: String) -> String {
        let name = words(in: text).map(capitalized).joined()
        if name.isEmpty { return "Empty" }
        return name.first.map { $0.isNumber } == true ? "Value" + name : name
    }

    /// A name of a property, a parameter or a case: `created_at` becomes `createdAt`.
    static func member(_ text: String) -> String {
        let words = words(in: text)
        guard let first = words.first else { return "empty" }
        let name = lowercasedStart(first) + words.dropFirst().map(capitalized).joined()
        if name.first.map({ $0.isNumber }) == true { return "value" + name }
        return name
    }

    /// The name in backticks if it is a keyword.
    static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// The singular of a name for the items of a list: `LineItems` becomes `LineItem`.
    static func singular(_ name: String) -> String {
        if name.hasSuffix("ies"), name.count > 4 { return name.dropLast(3) + "y" }
        for ending in ["sses", "xes", "ches", "shes"] where name.hasSuffix(ending) {
            return String(name.dropLast(2))
        }
        if name.hasSuffix("s"), !name.hasSuffix("ss"), !name.hasSuffix("us"), name.count > 3 {
            return String(name.dropLast())
        }
        return name + "Item"
    }

    /// Words that are signs in a document.
    private static let signs: [Character: String] = [
        "+": "plus", "*": "star", "<": "less", ">": "greater", "=": "equal", "!": "not",
        "%": "percent",
        "&": "and", "|": "or", "@": "at", "#": "number", "$": "dollar", "~": "tilde", "^": "caret",
    ]

    private static func words(in text: String) -> [String] {
        var words: [String] = []
        var word = ""
        let text = text.replacing("OAuth", with: "Oauth")
        let hasLetters = text.contains { $0.isLetter || $0.isNumber }
        // A name of capital letters has no boundaries within its words.
        let isShouted = hasLetters && !text.contains { $0.isLowercase }
        func end() {
            if !word.isEmpty { words.append(isShouted ? word.lowercased() : word) }
            word = ""
        }
        for (offset, character) in text.enumerated() {
            if character.isLetter || (character.isNumber && character.isASCII) {
                if character.isUppercase, let last = word.last, last.isLowercase || last.isNumber,
                    !isShouted
                {
                    end()
                }
                word.append(character)
            } else if character == "-", offset == 0 {
                words.append("minus")
            } else {
                end()
                if let sign = signs[character], !(hasLetters && "$#@&*".contains(character)) {
                    words.append(sign)
                }
            }
        }
        end()
        return words
    }

    private static func capitalized(_ word: String) -> String {
        word.prefix(1).uppercased() + word.dropFirst()
    }

    /// `HTTPServer` becomes `httpServer`, `ID` becomes `id`.
    private static func lowercasedStart(_ word: String) -> String {
        let capitals = word.prefix { $0.isUppercase }
        if capitals.count <= 1 || capitals.count == word.count {
            return capitals.count == word.count
                ? word.lowercased() : capitals.lowercased() + word.dropFirst(capitals.count)
        }
        let start = capitals.dropLast()
        return start.lowercased() + word.dropFirst(start.count)
    }

    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import",
        "init", "inout", "internal", "let", "operator", "private", "precedencegroup",
        "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias", "var",
        "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough",
        "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while",
        "Any", "as", "await", "false", "is", "nil", "self", "Self", "super", "throws", "true",
        "try", "Type", "Protocol",
    ]

    /// Names of types that the output uses, and those whose meaning must not change in it.
    static let reservedTypes: Set<String> = [
        "String", "Int", "Int64", "Double", "Bool", "Data", "Date", "UUID", "URL", "JSON",
        "JSONReader",
        "JSONWriter", "JSONShape", "Arguments", "ArgumentValue", "ArgumentEncoding", "ArgumentList",
        "HTTPBody", "HTTPMethod", "HTTPField", "HTTPFields", "HTTPURL", "EndpointURL",
        "BaseRequest",
        "Request", "JSONRequest", "TypedRequest", "DecodableOutput", "VoidOutput", "FileOutput",
        "ResponseDecoder", "Response", "ErrorDecoder", "RequestAgent", "RequestDescription",
        "RequestError", "RequestTask", "Configuration", "Authenticator", "HostPattern",
        "Pagination",
        "Codable", "Decodable", "Encodable", "Sendable", "Hashable", "Equatable", "Identifiable",
        "Encoder", "Decoder", "CodingKey", "CodingKeys", "RawRepresentable", "Indirect", "FullDate",
        "Error", "Array", "Dictionary", "Optional", "Result", "Task", "Never", "Any", "AnyObject",
        "Void", "Type", "Protocol", "Self", "Set", "Character", "Substring", "Float", "Output",
        "Outputs", "AsyncSequence", "Sequence", "Collection", "StatusCodes", "Empty", "Duration",
        "LosslessStringConvertible", "CustomStringConvertible", "Mutex", "KeyedDecodingContainer",
        "KeyedEncodingContainer", "MainActor", "Actor", "Swift", "Foundation", "Errand",
        "MemberKey",
        "Mirror", "Unicode", "Decimal", "AnyHashable", "Comparable", "Range", "ClosedRange",
        "InlineRequest", "TransportRequest", "StandardAuthenticator", "ResponseStream",
    ]

    /// Members of `BaseRequest` and the protocols of endpoints, which a property must not redeclare.
    static let requestMembers: Set<String> = [
        "url", "baseURL", "usesCDN", "agent", "method", "arguments", "requestSerializer", "body",
        "headers", "timeouts", "retryPolicy", "validator", "errorDecoder", "cacheSeconds",
        "cacheVersion", "configure", "willStart", "didFinish", "didFail", "metadata",
        "ignoresCache",
        "response", "result", "tag", "accessories", "delegate", "task", "error", "attach",
        "onProgress", "start", "send", "value", "stream", "pages", "items", "responsePages",
        "decoder",
        "output", "outputResult", "makeDescription", "serverSentEvents", "debugDescription",
        "events",
        "lines", "pagination", "self", "init", "Self", "shape", "bodyShape", "formFields",
    ]

    /// Members that a property of a model must not have.
    static let modelMembers: Set<String> = ["self", "init", "Self", "Type", "Protocol", "encode"]
}

/// Names that are taken in one scope.
struct NameScope {
    private(set) var taken: Set<String>

    init(_ taken: Set<String> = []) { self.taken = taken }

    /// Takes the first of some names that is free, otherwise the last one with a number.
    mutating func take(_ candidates: String...) -> String {
        for name in candidates where taken.insert(name).inserted { return name }
        let base = candidates.last ?? "value"
        var number = 2
        while !taken.insert("\(base)\(number)").inserted { number += 1 }
        return "\(base)\(number)"
    }
}
