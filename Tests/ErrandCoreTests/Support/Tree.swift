/// A JSON value that any text can be decoded as.
indirect enum Tree: Decodable, Equatable, CustomStringConvertible {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([Tree])
    case object([String: Tree])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([Tree].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: Tree].self))
        }
    }

    var description: String {
        switch self {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .number(let number): "\(number)"
        case .string(let string): string.debugDescription
        case .array(let items): "\(items)"
        case .object(let members):
            "\(members.sorted { $0.key < $1.key }.map { "\($0.key.debugDescription): \($0.value)" })"
        }
    }
}
