/// The path to a value in the normalised form of RFC 9535: `$['users'][3]['id']`.
struct ShapePath: CustomStringConvertible {
    enum Step {
        case key(String)
        case position(Int)
        /// Any item; used in paths through shapes instead of values.
        case item
    }

    private(set) var steps: [Step] = []

    init() {}

    init(_ steps: [JSONShape.Fault.Step]) {
        self.steps = steps.map { step in
            switch step {
            case .key(let key): .key(key)
            case .index(let position): .position(position)
            }
        }
    }

    /// The steps for a fault; a path through a value contains no `item`.
    var faultSteps: [JSONShape.Fault.Step] {
        steps.compactMap { step in
            switch step {
            case .key(let key): .key(key)
            case .position(let position): .index(position)
            case .item: nil
            }
        }
    }

    var item: ShapePath { appending(.item) }

    func appending(_ step: Step) -> ShapePath {
        var path = self
        path.steps.append(step)
        return path
    }

    mutating func push(_ step: Step) { steps.append(step) }
    mutating func pop() { _ = steps.popLast() }

    var description: String {
        var text = "$"
        for step in steps {
            switch step {
            case .key(let key): text += "['\(ShapePath.escaped(key))']"
            case .position(let position): text += "[\(position)]"
            case .item: text += "[*]"
            }
        }
        return text
    }

    private static func escaped(_ key: String) -> String {
        var text = ""
        for scalar in key.unicodeScalars {
            switch scalar {
            case "'": text += "\\'"
            case "\\": text += "\\\\"
            case "\u{8}": text += "\\b"
            case "\t": text += "\\t"
            case "\n": text += "\\n"
            case "\u{C}": text += "\\f"
            case "\r": text += "\\r"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
