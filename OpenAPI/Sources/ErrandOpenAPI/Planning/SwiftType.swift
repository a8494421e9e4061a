/// A type of the output.
indirect enum SwiftType: Equatable {
    /// A type of Swift, Foundation or Errand.
    case builtin(String)
    /// A type that is generated, by its key.
    case declared(TypeKey)
    case array(SwiftType)
    /// An item or a member that may be null.
    case optional(SwiftType)
    case dictionary(SwiftType)
    /// A file or bytes; in JSON it is text.
    case binary

    /// The type without arrays and dictionaries around it.
    var element: SwiftType {
        switch self {
        case .array(let element), .dictionary(let element), .optional(let element):
            element.element
        default: self
        }
    }
}

/// Who writes the values of a type.
enum Direction: Hashable {
    case both, request, response
}

/// The identity of a type that is generated.
struct TypeKey: Hashable {
    var place: Place
    var direction: Direction
}
