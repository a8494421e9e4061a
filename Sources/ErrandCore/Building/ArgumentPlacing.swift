import Foundation

/// Puts arguments into the query, the body, or both (rows ENC-9, ENC-11, RSQ-2).
struct ArgumentPlacing {
    private let endpoint: String
    private let method: HTTPMethod
    private let placement: ArgumentPlacement
    private let serializer: RequestSerializer
    private let ownBody: HTTPBody?
    private let encoding: ArgumentEncoding
    /// The endpoint's arguments and the shared ones; `nil` when there are none at all.
    private let arguments: Arguments?

    /// Takes what it needs and no more: a description is large, and copies cost.
    init(_ description: RequestDescription, _ configuration: Configuration, shared: Arguments) {
        self.init(
            description, configuration, arguments: description.arguments, shared: shared)
    }

    /// The same with other arguments than the endpoint's.
    init(
        _ description: RequestDescription, _ configuration: Configuration, arguments: Arguments?,
        shared: Arguments
    ) {
        endpoint = description.endpoint
        method = description.method
        placement = description.argumentPlacement
        serializer = description.requestSerializer
        ownBody = description.body
        if let own = description.argumentEncoding {
            encoding = own
        } else {
            encoding = configuration.argumentEncoding
        }
        if shared.isEmpty {
            self.arguments = arguments
        } else {
            self.arguments = (arguments ?? Arguments())
                .merging(shared: shared, fixedNames: configuration.fixedArgumentNames)
        }
    }

    /// Whether there is anything to place: arguments, or a body that says that there are none.
    static func isNeeded(for description: RequestDescription, shared: Arguments) -> Bool {
        description.arguments != nil || !shared.isEmpty
            || description.body == nil && isForm(description.method)
    }

    /// What is added to the URL's query; empty when nothing is.
    func query() throws(RequestError) -> String {
        guard isInQuery, let arguments, !arguments.isEmpty else { return "" }
        let bytes = try naming { () throws(RequestError) in
            try FormWriter.bytes(of: arguments, encoding: encoding)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The endpoint's own body, else one made of the arguments, else none.
    func body() throws(RequestError) -> HTTPBody? {
        if let body = ownBody {
            guard isInBody, let arguments, !arguments.isEmpty else { return body }
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
            // A form without arguments is an empty body with a type, for methods that are meant for bodies.
            guard arguments?.isEmpty == false || Self.isForm(method) else { return nil }
            let bytes = try FormWriter.bytes(of: arguments ?? Arguments(), encoding: encoding)
            let charset = encoding.charset.name
            return .data(
                Data(bytes),
                contentType: "application/x-www-form-urlencoded"
                    + (charset.isEmpty ? "" : "; charset=\(charset)"))
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
            do {
                return .data(try serialize(arguments), contentType: contentType)
            } catch {
                throw error as? RequestError
                    ?? RequestError(
                        .invalidArguments, stage: .build,
                        "The custom request serializer failed; what it threw lies beneath.",
                        underlying: error)
            }
        }
    }

    private func propertyList(
        _ format: PropertyListSerialization.PropertyListFormat
    ) throws(RequestError) -> HTTPBody? {
        guard let arguments else { return nil }
        let data = try ArgumentPropertyListWriter(encoding: encoding)
            .data(of: arguments, format: format)
        return .data(data, contentType: "application/x-plist")
    }

    private static func isForm(_ method: HTTPMethod) -> Bool {
        method == .post || method == .put || method == .patch
    }

    private var isAutomaticallyInQuery: Bool {
        method == .get || method == .head || method == .delete
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

    /// Puts the endpoint's name in front of what went wrong.
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
