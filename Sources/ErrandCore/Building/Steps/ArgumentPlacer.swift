import ErrandSystem

/// Places arguments into the query, the body, or both.
struct ArgumentPlacer {
    private let endpoint: String
    private let method: HTTPMethod
    private let placement: Arguments.Placement
    private let serializer: RequestSerializer
    private let ownBody: HTTPBody?
    private let encoding: ArgumentEncoding
    /// The endpoint's and the shared arguments; `nil` if there are none.
    private let arguments: Arguments?

    /// Copies only the required members: a description is expensive to copy.
    init(
        _ description: RequestDescription, _ configuration: Configuration, shared: Arguments
    ) throws(RequestError) {
        try self.init(
            description, configuration, arguments: description.arguments, shared: shared)
    }

    /// Uses other arguments instead of the endpoint's.
    package init(
        _ description: RequestDescription, _ configuration: Configuration, arguments: Arguments?,
        shared: Arguments
    ) throws(RequestError) {
        endpoint = description.endpoint
        method = description.method
        placement = description.argumentPlacement
        serializer = description.requestSerializer
        ownBody = description.body
        if let own = description.encoding {
            encoding = own
        } else {
            encoding = configuration.argumentEncoding
        }
        var merged = arguments
        if !shared.isEmpty {
            merged = (arguments ?? Arguments())
                .merging(shared: shared, fixedNames: configuration.fixedArgumentNames)
        }
        self.arguments = try merged?.applying(description.jsonEncoder(configuration))
    }

    /// Whether there are arguments, or the method requires an empty form body without them.
    static func isNeeded(for description: RequestDescription, shared: Arguments) -> Bool {
        description.arguments != nil || !shared.isEmpty
            || description.body == nil && isForm(description.method)
    }

    /// Whether the query's own names take precedence.
    var keepsFirst: Bool { encoding.duplicateNames == .keepFirst }

    /// Adds the arguments that belong there to the query of a URL.
    func addQuery(to url: inout HTTPURL) throws(RequestError) {
        let text = try query(beside: url.query)
        if encoding.duplicateNames == .replace { url.removeQuery(namesOf: text) }
        url.appendQuery(text)
    }

    /// The text to append to a URL with this query; may be empty.
    func query(beside own: String?) throws(RequestError) -> String {
        let text = try query()
        guard let own, !own.isEmpty, !text.isEmpty else { return text }
        return try naming { () throws(RequestError) in
            try encoding.duplicateNames.resolve(text, beside: own)
        }
    }

    /// All arguments that belong into the query, as text; may be empty.
    private func query() throws(RequestError) -> String {
        guard isInQuery, let arguments, !arguments.isEmpty else { return "" }
        let bytes = try naming { () throws(RequestError) in
            try FormWriter.bytes(of: arguments, encoding: encoding)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The endpoint's own body, otherwise one made from the arguments, otherwise none.
    func body() throws(RequestError) -> HTTPBody? {
        if let body = ownBody {
            guard isInBody, let arguments, !arguments.isEmpty else { return body }
            guard body.multipart != nil else {
                throw RequestError(
                    .invalidCombination, stage: .build,
                    "\(endpoint) places arguments into the body, but it has a body that is not "
                        + "multipart. Set argumentPlacement to .automatic or .query, or remove the "
                        + "body. For shared arguments, remove .sharedArguments from uses.")
            }
            return try naming { () throws(RequestError) in
                try body.addingMultipartFields(arguments, encoding: encoding)
            }
        }
        guard isInBody else { return nil }
        return try naming { () throws(RequestError) in try serialized() }
    }

    private func serialized() throws(RequestError) -> HTTPBody? {
        switch serializer {
        case .form:
            // Without arguments, POST, PUT and PATCH send an empty form with its content type.
            guard arguments?.isEmpty == false || Self.isForm(method) else { return nil }
            return try .encodedForm(arguments ?? Arguments(), encoding: encoding)
        case .json:
            guard let arguments else { return nil }
            let bytes = try ArgumentJSONWriter.bytes(of: arguments, encoding: encoding)
            return .data(Data(bytes), contentType: "application/json")
        case .plist:
            return try propertyList(.xml)
        case .binaryPlist:
            return try propertyList(.binary)
        case .custom(let contentType, let serialize):
            guard let arguments else { return nil }
            try arguments.checkAllLevels()
            do {
                return .data(try serialize(arguments), contentType: contentType)
            } catch {
                throw error as? RequestError
                    ?? RequestError(
                        .invalidArguments, stage: .build,
                        "The custom request serializer failed; see the underlying error.",
                        underlying: error)
            }
        }
    }

    private func propertyList(
        _ format: ArgumentPropertyListWriter.Format
    ) throws(RequestError) -> HTTPBody? {
        guard let arguments else { return nil }
        let data = try ArgumentPropertyListWriter(encoding: encoding)
            .data(of: arguments, format: format)
        return .data(data, contentType: "application/x-plist")
    }

    private static func isForm(_ method: HTTPMethod) -> Bool {
        // Comparing equal methods is fast, and most are GET.
        if method == .get { return false }
        return method == .post || method == .put || method == .patch
    }

    private var isAutomaticallyInQuery: Bool {
        if let ownBody, ownBody.multipart == nil { return true }
        return method == .get || method == .head || method == .delete
    }

    private var isInQuery: Bool {
        switch placement {
        case .automatic: isAutomaticallyInQuery
        case .query, .queryAndBody: true
        case .body: false
        }
    }

    private var isInBody: Bool {
        switch placement {
        case .automatic: !isAutomaticallyInQuery
        case .body, .queryAndBody: true
        case .query: false
        }
    }

    /// Prefixes error messages with the endpoint's name.
    private func naming<Value>(
        _ body: () throws(RequestError) -> Value
    ) throws(RequestError) -> Value {
        do throws(RequestError) {
            return try body()
        } catch {
            var error = error
            error.message = "\(endpoint): \(error.message)"
            throw error
        }
    }
}
