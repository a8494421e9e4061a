import Foundation
import HTTPTypes

/// Puts a request's headers together (rows HDR-1 to HDR-6): the endpoint's, then the shared ones, then
/// defaults, each only where a stronger one has not said anything.
enum HeaderBuilder {
    /// The headers in order: the endpoint's own first.
    ///
    /// - Throws: ``RequestError/Code/invalidHeader``, ``RequestError/Code/invalidCombination``.
    static func headers(
        of description: RequestDescription, _ configuration: Configuration, shared: HTTPFields,
        url: URI, body: HTTPBody?
    ) throws(RequestError) -> HTTPFields {
        var fields = try ownFields(of: description)
        if !fields.isEmpty {
            try removeTransportFields(
                from: &fields, url: url, body: body, whose: "", of: description)
        }
        try addAuthorization(of: description, to: &fields)
        if !shared.isEmpty {
            var shared = shared
            try removeTransportFields(
                from: &shared, url: url, body: body, whose: "shared ", of: description)
            for name in configuration.fixedHeaderNames where shared.contains(name) {
                fields[fields: name] = []
            }
            // A name with several values is one thing: all of its fields, or none.
            let own = fields
            for field in shared where !own.contains(field.name) { fields.append(field) }
        }
        joinCookies(in: &fields)
        if let userInfo = url.userInfo, !fields.contains(.authorization) {
            fields[.authorization] = Self.basic(PercentEncoding.decode(userInfo.utf8))
        }
        if case .header(let name) = configuration.apiVersionPlacement,
            let apiVersion = URLBuilder.version(of: description)
        {
            let name = try checkedName(name, description.endpoint)
            if !fields.contains(name) {
                fields.append(
                    HTTPField(
                        name: name,
                        value: try checked(apiVersion, of: name.rawName, description.endpoint)))
            }
        }
        if let type = body?.contentType, !fields.contains(.contentType) {
            fields.append(
                HTTPField(
                    name: .contentType,
                    value: try checked(type, of: "Content-Type", description.endpoint)))
        }
        return try addingDefaults(to: fields, description, configuration)
    }

    /// HTTPFields keeps each cookie in a field of its own; before HTTP/2 there may be one (RFC 9113 §8.2.3).
    private static func joinCookies(in fields: inout HTTPFields) {
        guard fields.contains(.cookie) else { return }
        let cookies = fields[values: .cookie]
        guard cookies.count > 1 else { return }
        fields[fields: .cookie] = [
            HTTPField(name: .cookie, value: cookies.joined(separator: "; "))
        ]
    }

    private static func ownFields(of description: RequestDescription) throws(RequestError)
        -> HTTPFields
    {
        if let custom = description.customRequest {
            var fields = HTTPFields()
            for (name, value) in custom.headers {
                fields.append(
                    HTTPField(
                        name: try checkedName(name, description.endpoint),
                        value: try checked(value, of: name, description.endpoint)))
            }
            return fields
        }
        var fields = description.headers
        guard !description.headerFieldValues.isEmpty else { return fields }
        for (name, value) in description.headerFieldValues.sorted(by: { $0.key < $1.key }) {
            let checkedName = try checkedName(name, description.endpoint)
            fields[fields: checkedName] = []
            // NB: the subscript of HTTPFields would split a cookie into several fields.
            fields.append(
                HTTPField(
                    name: checkedName, value: try checked(value, of: name, description.endpoint)))
        }
        return fields
    }

    private static func addAuthorization(
        of description: RequestDescription, to fields: inout HTTPFields
    ) throws(RequestError) {
        guard let authorization = description.authorization, description.customRequest == nil
        else { return }
        guard !fields.contains(.authorization) else {
            throw RequestError(
                .invalidCombination, stage: .build,
                "\(description.endpoint) has an authorization and an Authorization header. Keep one."
            )
        }
        let value: String
        switch authorization {
        case .basic(let user, let password):
            guard !user.utf8.contains(UInt8(ascii: ":")) else {
                throw invalid(
                    description.endpoint,
                    "has a user name with a colon, which Basic authorization cannot carry (RFC 7617)"
                )
            }
            guard !Credentials.holdControls(user, password) else {
                throw invalid(
                    description.endpoint,
                    "has a user name or password with a control character, such as the line break at the end of a "
                        + "file; Basic authorization cannot carry it (RFC 7617)")
            }
            value = Self.basic(Array("\(user):\(password)".utf8))
        case .bearer(let token):
            guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw invalid(
                    description.endpoint,
                    "has a bearer token that is empty, or holds spaces, line breaks or characters "
                        + "beyond ASCII")
            }
            value = "Bearer " + token
        case .custom(let text):
            value = try checked(text, of: "Authorization", description.endpoint)
        }
        fields.append(HTTPField(name: .authorization, value: value))
    }

    private static func basic(_ credentials: [UInt8]) -> String {
        "Basic " + Data(credentials).base64EncodedString()
    }

    /// Takes out what the transport writes by itself, if it agrees; refuses it otherwise.
    private static func removeTransportFields(
        from fields: inout HTTPFields, url: URI, body: HTTPBody?, whose: String,
        of description: RequestDescription
    ) throws(RequestError) {
        if let value = fields[.contentLength] {
            guard let length = body?.knownLength ?? (body == nil ? 0 : nil), Int64(value) == length
            else {
                throw owned(
                    description.endpoint, "Content-Length", whose, "It is counted from the body.")
            }
            fields[.contentLength] = nil
        }
        if fields.contains(.transferEncoding) {
            throw owned(
                description.endpoint, "Transfer-Encoding", whose,
                "A stream without length is sent chunked by itself.")
        }
        if let host = Self.host, let value = fields[host] {
            guard value.lowercased() == url.authority else {
                throw owned(
                    description.endpoint, "Host", whose,
                    "It is the URL's; transport.addressOverrides sends to another address.")
            }
            fields[host] = nil
        }
    }

    private static func addingDefaults(
        to fields: HTTPFields, _ description: RequestDescription, _ configuration: Configuration
    ) throws(RequestError) -> HTTPFields {
        if fields.isEmpty && configuration.userAgent == nil { return DefaultHeaders.fields }
        var fields = fields
        for field in DefaultHeaders.fields where !fields.contains(field.name) {
            guard field.name == .userAgent, let agent = configuration.userAgent else {
                fields.append(field)
                continue
            }
            guard !agent.isEmpty else { continue }
            fields.append(
                HTTPField(
                    name: .userAgent,
                    value: try checked(agent, of: "User-Agent", description.endpoint)))
        }
        return fields
    }

    private static func checkedName(_ name: String, _ endpoint: String) throws(RequestError)
        -> HTTPField.Name
    {
        guard let field = HTTPField.Name(name) else {
            throw invalid(
                endpoint,
                "has a header named \(name.debugDescription), which is not a token: letters, digits "
                    + "and !#$%&'*+-.^_`|~ only")
        }
        return field
    }

    /// The value, if it may be sent; the error names the header and keeps the value to itself.
    private static func checked(
        _ value: String, of name: String, _ endpoint: String
    ) throws(RequestError) -> String {
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw invalid(
                endpoint,
                "has a header \(name.debugDescription) whose value holds a line break, NUL or another "
                    + "control character; encode the value or leave it out")
        }
        return value
    }

    private static func invalid(_ endpoint: String, _ problem: String) -> RequestError {
        RequestError(.invalidHeader, stage: .build, "\(endpoint) \(problem).")
    }

    private static func owned(
        _ endpoint: String, _ name: String, _ whose: String, _ hint: String
    ) -> RequestError {
        RequestError(
            .invalidHeader, stage: .build,
            "\(endpoint) has a \(whose)header \(name), which the transport writes. "
                + "Leave it out. \(hint)")
    }

    private static let host = HTTPField.Name("Host")
}
