import Yams

/// A reader of YAML that keeps lines, with the scalars of the core schema of YAML 1.2.
struct YAMLText {
    /// The number of values that aliases may expand to.
    private static let maximumNodes = 1_000_000

    private let text: String
    private var count = 0
    /// The keys that occur twice in an object, with their lines.
    private(set) var repeatedKeys: [(key: String, line: Int)] = []

    init(_ text: String) { self.text = text }

    /// Reads the whole text as one value.
    mutating func read() throws(JSONText.Fault) -> Node {
        let node: Yams.Node?
        do {
            node = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw Self.fault(error)
        } catch {
            throw JSONText.Fault(line: 0, message: "\(error)")
        }
        guard let node else { throw JSONText.Fault(line: 1, message: "The document is empty.") }
        return try value(of: node, 0)
    }

    private static func fault(_ error: YamlError) -> JSONText.Fault {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            JSONText.Fault(line: mark.line, message: "This is not YAML: \(problem).")
        case .duplicatedKeysInMapping(let keys, let context):
            JSONText.Fault(
                line: context.mark.line,
                message: "Keys occur twice: \(keys.joined(separator: ", ")).")
        default: JSONText.Fault(line: 0, message: "\(error)")
        }
    }

    private mutating func value(of node: Yams.Node, _ depth: Int) throws(JSONText.Fault) -> Node {
        let line = node.mark?.line ?? 0
        count += 1
        guard count < Self.maximumNodes, depth < 512 else {
            throw JSONText.Fault(
                line: line, message: "Aliases expand to more than \(Self.maximumNodes) values.")
        }
        switch node {
        case .scalar(let scalar): return Node(value: Self.value(of: scalar), line: line)
        case .sequence(let sequence):
            var items: [Node] = []
            for item in sequence { items.append(try value(of: item, depth + 1)) }
            return Node(value: .array(items), line: line)
        case .mapping(let mapping):
            var members = Node.Members()
            for (key, member) in mapping {
                guard case .scalar(let scalar) = key else {
                    throw JSONText.Fault(
                        line: key.mark?.line ?? line, message: "A key must be a scalar.")
                }
                var value = try value(of: member, depth + 1)
                if scalar.string == "<<", scalar.style == .plain {
                    for base in value.items ?? [value] {
                        for (key, inherited) in base.members ?? [] where members[key] == nil {
                            members.set(inherited, for: key)
                        }
                    }
                    continue
                }
                value.line = key.mark?.line ?? value.line
                if !members.set(value, for: scalar.string) {
                    repeatedKeys.append((scalar.string, value.line))
                }
            }
            return Node(value: .object(members), line: line)
        case .alias:
            throw JSONText.Fault(line: line, message: "An alias has no anchor.")
        }
    }

    private static func value(of scalar: Yams.Node.Scalar) -> Node.Value {
        let text = scalar.string
        guard scalar.style == .plain || scalar.style == .any else { return .string(text) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: break
        }
        if let first = text.utf8.first,
            first == UInt8(ascii: "-") || first == UInt8(ascii: "+") || first == UInt8(ascii: ".")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        {
            if text.hasPrefix("0x"), let number = Int(text.dropFirst(2), radix: 16) {
                return .number(String(number))
            }
            if text.hasPrefix("0o"), let number = Int(text.dropFirst(2), radix: 8) {
                return .number(String(number))
            }
            let isDecimal = text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || "+-.eE".utf8.contains($0)
            }
            if isDecimal, let number = Double(text) {
                // JSON has neither a plus sign, nor leading zeros, nor a point without digits.
                if let whole = Int(text) { return .number(String(whole)) }
                if text.wholeMatch(of: /-?(0|[1-9][0-9]*)\.[0-9]+/) != nil { return .number(text) }
                return .number("\(number)")
            }
        }
        return .string(text)
    }
}
