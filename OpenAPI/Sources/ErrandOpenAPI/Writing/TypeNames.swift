/// The names of types where they are used.
struct TypeNames {
    let planner: TypePlanner

    /// The type in Swift, in the scope of an owner.
    func name(_ type: SwiftType, in owner: Owner?) -> String {
        switch type {
        case .builtin(let name): return name
        case .binary: return "String"
        case .array(let element): return "[\(name(element, in: owner))]"
        case .dictionary(let value): return "[String: \(name(value, in: owner))]"
        case .optional(let type): return name(type, in: owner) + "?"
        case .declared(let key):
            guard let declaration = planner.declarations[key] else { return "JSON" }
            if let own = declaration.owner, let owner, own === owner { return declaration.name }
            return declaration.fullName
        }
    }

    /// An expression with the value as text; `nil` for objects.
    func text(_ type: SwiftType, _ value: String) -> String? {
        switch type {
        case .builtin("String"): return value
        case .builtin("UUID"): return "\(value).uuidString"
        case .builtin("Date"): return "\(value).formatted(.iso8601)"
        case .builtin("Data"): return "\(value).base64EncodedString()"
        case .builtin("FullDate"): return "\(value).description"
        case .builtin("JSON"), .dictionary, .binary, .optional: return nil
        case .builtin: return "\"\\(\(value))\""
        case .array(let element):
            guard let text = text(element, "$0") else { return nil }
            return text == "$0"
                ? "\(value).joined(separator: \",\")"
                : "\(value).map { \(text) }.joined(separator: \",\")"
        case .declared(let key):
            guard case .enumeration(let enumeration)? = planner.declarations[key]?.body else {
                return nil
            }
            return enumeration.isInteger ? "\"\\(\(value).rawValue)\"" : "\(value).rawValue"
        }
    }
}
