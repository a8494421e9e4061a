/// A value of a document, with its line.
///
/// Numbers keep their text, and members keep their order.
struct Node: Sendable {
    enum Value: Sendable {
        case null
        case bool(Bool)
        case number(String)
        case string(String)
        case array([Node])
        case object(Members)
    }

    var value: Value
    /// The line where it begins, from 1.
    var line: Int

    /// The members of an object, in order.
    struct Members: Sendable {
        private(set) var list: [(key: String, value: Node)] = []
        private var positions: [String: Int] = [:]

        init() {}

        init(_ list: [(key: String, value: Node)]) {
            for (key, value) in list { set(value, for: key) }
        }

        subscript(key: String) -> Node? { positions[key].map { list[$0].value } }

        /// Sets a member; returns false, and replaces its value, if there is one already.
        @discardableResult
        mutating func set(_ value: Node, for key: String) -> Bool {
            if let position = positions[key] {
                list[position].value = value
                return false
            }
            positions[key] = list.count
            list.append((key, value))
            return true
        }
    }

    subscript(key: String) -> Node? {
        guard case .object(let members) = value else { return nil }
        return members[key]
    }

    var members: [(key: String, value: Node)]? {
        guard case .object(let members) = value else { return nil }
        return members.list
    }

    var items: [Node]? {
        guard case .array(let items) = value else { return nil }
        return items
    }

    var string: String? {
        guard case .string(let text) = value else { return nil }
        return text
    }

    var bool: Bool? {
        guard case .bool(let bool) = value else { return nil }
        return bool
    }

    var int: Int? {
        guard case .number(let text) = value else { return nil }
        return Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
    }

    var double: Double? {
        guard case .number(let text) = value else { return nil }
        return Double(text)
    }

    var isNull: Bool {
        if case .null = value { true } else { false }
    }

    /// The name of the kind, for messages.
    var kind: String {
        switch value {
        case .null: "null"
        case .bool: "a Boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// The value as compact JSON.
    var json: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch value {
        case .null: text += "null"
        case .bool(let bool): text += bool ? "true" : "false"
        case .number(let number): text += number
        case .string(let string): Self.write(string, to: &text)
        case .array(let items):
            text += "["
            for (position, item) in items.enumerated() {
                if position > 0 { text += "," }
                item.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (position, member) in members.list.enumerated() {
                if position > 0 { text += "," }
                Self.write(member.key, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case let control where control.value < 0x20:
                let digits = String(control.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
