/// An endpoint class that is generated.
struct Endpoint {
    let operation: Operation
    let name: String
    let owner: Owner
    var properties: [Property] = []
    var url: [URLPart] = []
    var arguments: [Argument] = []
    /// Whether lists of the query are one value with commas.
    var joinsLists = false
    var headers: [Argument] = []
    var cookies: [Argument] = []
    var body: Body?
    var output = Output.none
    /// The types of error bodies by status.
    var errors: [(status: String, type: SwiftType)] = []
    /// The type of the events of an event stream.
    var events: SwiftType?
    /// Whether the events of an event stream are text.
    var hasTextEvents = false
    /// The type of the lines of a stream of JSON.
    var lines: SwiftType?
    var server: API.Server?
    var sendsNoCredentials = false
    /// The position of the agent with the credentials; 0 for that of the service.
    var agent = 0
    var pages: Pages?
    /// The schema of the output, if it is JSON of one kind.
    var schema: Schema?
    /// The name of the shape of the output.
    var shape: String?
    /// The name of the shape of the body.
    var bodyShape: String?
    /// A body of a response for tests, as JSON or text.
    var sample: String?

    struct Property {
        var name: String
        var type: SwiftType
        var isOptional: Bool
        /// The type in Swift, if it is none of a schema.
        var special: String?
        /// The default value in Swift.
        var value: String?
        var text: String?
        var isDeprecated = false
    }

    enum URLPart {
        case text(String)
        /// A value; the items of a list, or the members of an object, have a separator.
        case value(Property, Argument.Form, separator: String)
    }

    struct Argument {
        enum Form {
            /// The value as it is.
            case plain
            /// One text of all items, with a separator.
            case joined(String)
            /// An object under the name.
            case nested
            /// An object or a list under the name, whose items have their positions as names: `a[0][b]`.
            case indexed
            /// The members of an object, each under its own name.
            case members
            /// A list of the names and the values of an object in turn; with a separator, one text.
            case alternating(String?)
            /// The members of an object, each a name and a value with an equals sign between them.
            case pairs
            /// The value as JSON.
            case json
        }
        var name: String
        var property: Property
        var form: Form
    }

    enum Body {
        case json(Property, contentType: String?)
        case text(Property, contentType: String)
        /// A body that the caller makes.
        case ready(Property)
        case parts(Property)
        case multipart([(name: String, property: Property, contentType: String?)])
        /// The arguments are the body.
        case form
        /// A form beside the arguments.
        case fields([Argument])
    }

    enum Output {
        case none
        case json(SwiftType, isOptional: Bool)
        case text
        case data
        case byStatus([(status: String, output: SingleOutput)])
    }

    enum SingleOutput: Equatable {
        case none
        case json(SwiftType, isOptional: Bool)
        case text
        case data
    }

    /// How the pages of a list follow from each other.
    struct Pages {
        /// The rule in Swift.
        var rule: String
        /// The property of the output with the items, and whether it is optional; `nil` for a list.
        var items: (name: String, isOptional: Bool)?
        var item: SwiftType
    }
}
