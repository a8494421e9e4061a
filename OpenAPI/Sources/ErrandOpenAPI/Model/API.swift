/// What a document describes.
struct API {
    var title = ""
    var version = ""
    var text: String?
    var servers: [Server] = []
    var schemes: [SecurityScheme] = []
    var security: [[String]]?
    var operations: [Operation] = []
    /// The named schemas, in order.
    var schemas: [Place] = []

    struct Server {
        var url: String
        var place: Place
        var text: String?
        var variables: [Variable] = []

        struct Variable {
            var name: String
            var text: String?
            var defaultValue: String
            var values: [String]
        }
    }

    struct SecurityScheme {
        enum Kind: Equatable {
            case header(String), query(String), cookie(String)
            case basic, bearer
            case http(String)
            /// OAuth 2 or OpenID Connect: a bearer token of a provider.
            case token
            case mutualTLS
        }
        var name: String
        var kind: Kind
        var text: String?
        var place: Place
    }
}

/// One operation of a document.
struct Operation {
    var place: Place
    var path: String
    var method: String
    var id: String?
    var tags: [String] = []
    var summary: String?
    var text: String?
    var isDeprecated = false
    var parameters: [Parameter] = []
    var body: Body?
    var responses: [Response] = []
    /// The requirements, each a list of schemes that are needed together; `nil` for those of the document.
    var security: [[String]]?
    var servers: [API.Server] = []
    var pagination: Node?
    /// Why it is not generated: what it has that is not read.
    var refusal: Refusal?

    struct Refusal: Error {
        var place: Place
        var message: String
    }

    struct Parameter {
        enum Location: String { case path, query, header, cookie }

        var place: Place
        var name: String
        var location: Location
        var isRequired = false
        var isDeprecated = false
        var style: String
        var explodes: Bool
        var text: String?
        /// The schema, of the media type if it has one.
        var schema: Schema?
        /// The media type of the text of the value, in place of a style.
        var mediaType: String?

        /// Whether the value is JSON.
        var isJSON: Bool {
            mediaType.map { Content(place: place, mediaType: $0).isJSON } ?? false
        }
    }

    struct Body {
        var place: Place
        var isRequired: Bool
        var text: String?
        var content: [Content]
    }

    struct Content {
        var place: Place
        var mediaType: String
        var schema: Schema?
        /// Whether values of the schema are objects or lists.
        var isStructured = false
        /// How the fields of a form are written.
        var encodings: [String: Encoding] = [:]
        /// Whether the data of events is text, not JSON.
        var hasTextEvents = false

        struct Encoding {
            var contentType: String?
            var style: String?
            var explodes: Bool

            /// The text between the items of a list; `nil` for items of their own.
            var separator: String? {
                if explodes || style == "deepObject" { return nil }
                return ["spaceDelimited": " ", "pipeDelimited": "|"][style ?? "form"] ?? ","
            }
        }

        /// The media type without parameters, in lower case.
        var type: String {
            (mediaType.split(separator: ";").first.map(String.init) ?? "")
                .trimmingSpaces.lowercased()
        }
        var isJSON: Bool {
            type == "application/json" || type.hasSuffix("+json") || type == "text/json"
                || isWildcard && isStructured
        }
        /// Whether it is any type.
        var isWildcard: Bool { type == "*/*" || type == "application/*" }
        var isEvents: Bool { type == "text/event-stream" }
        var isLines: Bool {
            [
                "application/jsonl", "application/x-ndjson", "application/ndjson",
                "application/x-jsonlines", "application/json-lines", "application/jsonlines",
            ].contains(type)
        }
        var isForm: Bool {
            type == "application/x-www-form-urlencoded" || type.hasPrefix("multipart/")
        }
        var isText: Bool { type.hasPrefix("text/") || type == "application/sdp" }
    }

    struct Response {
        var place: Place
        /// `200`, `4XX`, `default`.
        var status: String
        var text: String?
        var content: [Content]
        var hasLinkHeader = false
        var hasLocationHeader = false

        var isSuccess: Bool { status.hasPrefix("2") }

        /// Whether the text is a status of three digits, a range of them, or `default`.
        static func isStatus(_ text: String) -> Bool {
            guard text != "default" else { return true }
            let (digit, rest) = (text.prefix(1), text.dropFirst())
            guard digit >= "1", digit <= "9", text.utf8.count == 3 else { return false }
            return rest.uppercased() == "XX" || rest.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }

        /// The name of a case for a status.
        static func caseName(_ status: String) -> String {
            switch status {
            case "200": "ok"
            case "201": "created"
            case "202": "accepted"
            case "203": "nonAuthoritative"
            case "204": "noContent"
            case "205": "resetContent"
            case "206": "partialContent"
            case "207": "multiStatus"
            case "default", "2XX": "other"
            default: "status\(status)"
            }
        }
    }
}

extension String {
    var trimmingSpaces: String {
        var text = Substring(self)
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
