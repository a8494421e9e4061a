public import ErrandHTTP

extension RequestDescription {
    /// Which responses are a success, beside the `validator` of the endpoint.
    public struct Acceptance: Sendable {
        package init() {}

        /// The statuses that are a success: `[200, 204]`, `StatusCodes(200..<400)`, `.any`, or a closure.
        ///
        /// Default ``StatusCodes/success``: `200..<300`. Errors: ``RequestError/Code/unacceptableStatus``;
        /// ``RequestError/Code/invalidValidator`` for none.
        public var statuses = StatusCodes.success
        /// The content types that are a success, such as `text/html`, and patterns, such as `image/*` and `*+json`;
        /// `*/*` accepts every type.
        ///
        /// Default `nil`: ``Configuration/acceptableContentTypes``, otherwise those of ``format``; for a download every
        /// type. A response without a content type or a body passes. Errors:
        /// ``RequestError/Code/unacceptableContentType``.
        public var contentTypes: Set<String>?
        /// The required format of the response body.
        ///
        /// Default ``Format/automatic``: JSON if the endpoint has a `validator` or its output is made from JSON,
        /// otherwise any. An empty body is accepted for every format. No effect on a download, whose body is not
        /// parsed. Errors: ``RequestError/Code/undecodable``.
        public var format = Format.automatic
        /// The rules of the service, checked in order after all other validation; the first rejection counts.
        ///
        /// Default none. ``Configuration/responseRules`` run before them. Stored responses are checked as well.
        /// Errors: ``RequestError/Code/rejected`` with your error underlying, ``RequestError/Code/cancelled`` for a
        /// dropped response.
        public var rules: [ResponseRule] = []
    }
}

extension RequestDescription.Acceptance {
    /// The required format of a response body.
    public enum Format: Sendable {
        /// JSON if the endpoint has a validator or its output is made from JSON, otherwise any; the default.
        case automatic
        /// Any bytes.
        case any
        /// JSON; invalid JSON fails the request, an empty body does not.
        ///
        /// Content types: `application/json`, `text/json`, `text/javascript` and `*+json`.
        case json
        /// Text of any content type: in the charset of the header, of the byte order mark, UTF-8, or Latin-1, in this
        /// order; see ``Response/string``.
        case text
        /// A property list.
        case propertyList
        /// XML: only the content type is checked; the app parses the bytes.
        case xml
        /// A format that a closure checks; the error that it throws fails the request.
        case custom(@Sendable (Response) throws -> Void)
        /// The first of these formats that accepts the body; if none does, the first one's error is thrown.
        indirect case firstOf([Format])

        /// Whether a closure checks the body.
        package var hasClosure: Bool {
            switch self {
            case .custom: true
            case .firstOf(let formats): formats.contains(where: \.hasClosure)
            case .automatic, .any, .text, .json, .propertyList, .xml: false
            }
        }

        /// Whether a body of JSON can be accepted.
        package var acceptsJSON: Bool {
            switch self {
            case .automatic, .any, .text, .json, .custom: true
            case .propertyList, .xml: false
            case .firstOf(let formats): formats.contains(where: \.acceptsJSON)
            }
        }
    }
}
