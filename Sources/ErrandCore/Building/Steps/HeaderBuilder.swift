import ErrandSystem
import ErrandTransport
import HTTPTypes

/// Combines a request's headers: the endpoint's, then the shared ones, then defaults.
///
/// A later source adds only names that earlier ones lack, except
/// ``Configuration/fixedHeaderNames``.
enum HeaderBuilder {
    /// The headers in order: the endpoint's own first.
    ///
    /// - Throws: ``RequestError/Code/invalidHeader``, ``RequestError/Code/invalidCombination``.
    static func headers(
        of description: RequestDescription, _ configuration: Configuration, shared: HTTPFields,
        url: HTTPURL, body: HTTPBody?
    ) throws(RequestError) -> HTTPFields {
        var fields = try ownFields(of: description)
        if !fields.isEmpty {
            try removeTransportFields(
                from: &fields, url: url, body: body, sender: description.endpoint)
        }
        try addAuthorization(of: description, to: &fields)
        if !shared.isEmpty {
            var shared = shared
            try removeTransportFields(
                from: &shared, url: url, body: body, qualifier: "shared ",
                sender: description.endpoint)
            for name in configuration.fixedHeaderNames where shared.contains(name) {
                fields[fields: name] = []
            }
            if !configuration.fixedHeaderNames.contains(.contentType) {
                removeContentType(from: &shared, of: body)
            }
            // Fields with the same name are taken all together or not at all.
            let own = fields
            for field in shared where !own.contains(field.name) { fields.append(field) }
        }
        joinCookies(in: &fields)
        if let userInfo = url.userInfo, !fields.contains(.authorization) {
            fields[.authorization] = Self.basic(PercentEncoding.decode(userInfo.utf8))
        }
        if let body {
            if fields.contains(.contentType) {
                try completeContentType(
                    in: &fields, of: body, sender: description.endpoint,
                    isShared: configuration.fixedHeaderNames.contains(.contentType))
            } else if let type = body.contentType {
                fields.append(
                    HTTPField(
                        name: .contentType,
                        value: try checked(type, of: "Content-Type", description.endpoint)))
                // The property can be set to a type without the boundary.
                if body.multipart != nil {
                    try completeContentType(in: &fields, of: body, sender: description.endpoint)
                }
            }
        }
        return try addingDefaults(to: fields, description, configuration)
    }

    /// HTTPFields stores each cookie in its own field; HTTP/1.1 allows only one (RFC 9113 §8.2.3).
    private static func joinCookies(in fields: inout HTTPFields) {
        guard !fields.isEmpty, fields.contains(.cookie) else { return }
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
        return description.headers
    }

    private static func addAuthorization(
        of description: RequestDescription, to fields: inout HTTPFields
    ) throws(RequestError) {
        guard let authorization = description.authorization else { return }
        guard !fields.contains(.authorization) else {
            throw .invalidCombination(
                "\(description.endpoint) has both authorization and an Authorization header. Remove one."
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
            guard !Credentials.containControlCharacters(user, password) else {
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
                    "has a bearer token that is empty, or contains spaces, line breaks or "
                        + "non-ASCII characters")
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

    /// Removes a shared content type if the body has its own.
    ///
    /// A shared `…+json` remains for a body of `application/json`: it names the same syntax more exactly.
    static func removeContentType(from shared: inout HTTPFields, of body: HTTPBody?) {
        guard let type = body?.contentType, let value = shared[.contentType] else { return }
        let essence = value.prefix(upToByte: ";").trimmingBlanks().lowercasedASCII()
        if type == "application/json", essence.ends(withBytes: "+json") { return }
        shared[fields: .contentType] = []
    }

    /// Adds the boundary to the content type of a multipart body, and refuses a content type without meaning for it.
    static func completeContentType(
        in fields: inout HTTPFields, of body: HTTPBody?, sender: String, isShared: Bool = false
    ) throws(RequestError) {
        guard let body, let type = fields[.contentType] else { return }
        guard let completed = body.completing(type) else {
            throw invalid(
                sender,
                "has a multipart body, and a \(isShared ? "shared " : "")header Content-Type that is not multipart/… or "
                    + "has another boundary. Remove the header\(isShared ? ", or its name in fixedHeaderNames" : ""); "
                    + "the body adds its own, with its boundary")
        }
        if completed != type { fields[.contentType] = completed }
    }

    /// Checks the headers of a request that a hook may have changed.
    ///
    /// The hook's multipart body replaces a content type that the hook did not set. Otherwise the rules for headers of
    /// endpoints apply.
    ///
    /// - Throws: ``RequestError/Code/invalidHeader``.
    static func checkHeaders(
        of request: inout TransportRequest, changedFrom before: TransportRequest, by hook: String
    ) throws(RequestError) {
        var fields = request.headers
        try removeTransportFields(from: &fields, url: request.url, body: request.body, sender: hook)
        if let body = request.body, let type = body.contentType, body.boundary != nil,
            fields[.contentType] == before.headers[.contentType],
            fields[.contentType].flatMap(body.completing) == nil
        {
            fields[.contentType] = type
        }
        try completeContentType(in: &fields, of: request.body, sender: hook)
        if fields != request.headers { request.headers = fields }
    }

    /// Removes fields that the transport writes itself, if their value is correct; otherwise fails.
    ///
    /// - Parameters:
    ///   - qualifier: The words before "header" in messages.
    ///   - sender: The endpoint or hook that messages name.
    static func removeTransportFields(
        from fields: inout HTTPFields, url: HTTPURL, body: HTTPBody?, qualifier: String = "",
        sender: String
    ) throws(RequestError) {
        if let fault = fields.nameFault {
            throw invalid(sender, "has a \(qualifier)header named \(fault)")
        }
        guard fields.count(where: { $0.name == .contentType }) < 2 else {
            throw invalid(
                sender, "has two \(qualifier)headers Content-Type; a request has one. Remove one")
        }
        if let value = fields[.contentLength] {
            guard let length = body?.knownLength ?? (body == nil ? 0 : nil), Int64(value) == length
            else {
                throw reservedHeader(
                    sender, "Content-Length", qualifier,
                    "It is computed from the body.")
            }
            fields[.contentLength] = nil
        }
        if fields.contains(.transferEncoding) {
            throw reservedHeader(
                sender, "Transfer-Encoding", qualifier,
                "A stream of unknown length is sent chunked automatically.")
        }
        if fields.contains(.proxyAuthorization) {
            throw invalid(
                sender,
                "has a \(qualifier)\(TransportRequest.proxyAuthorizationProblem)")
        }
        if let host = Self.host, let value = fields[host] {
            guard value.lowercasedASCII() == url.authority else {
                throw reservedHeader(
                    sender, "Host", qualifier,
                    "It is taken from the URL; transportOptions.addressOverrides connects to another address."
                )
            }
            fields[host] = nil
        }
        if let names = body?.trailerNames, !names.isEmpty, let value = fields[.trailer] {
            guard
                Set(ListElements(value).map { $0.lowercasedASCII() })
                    == Set(names.map { $0.lowercasedASCII() })
            else {
                throw reservedHeader(
                    sender, "Trailer", qualifier, "It is taken from the body's trailers.")
            }
            fields[.trailer] = nil
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
            throw invalid(endpoint, "has a header named \(HTTPField.Name.fault(of: name))")
        }
        return field
    }

    /// Returns the value if it is valid; the error names the header but does not contain the value.
    private static func checked(
        _ value: String, of name: String, _ endpoint: String
    ) throws(RequestError) -> String {
        guard value.isFieldValue else {
            throw invalid(
                endpoint,
                "has a header \(name.debugDescription) whose value contains a line break, NUL or another "
                    + "control character; encode or remove it")
        }
        return value
    }

    private static func invalid(_ endpoint: String, _ problem: String) -> RequestError {
        RequestError(.invalidHeader, stage: .build, "\(endpoint) \(problem).")
    }

    private static func reservedHeader(
        _ endpoint: String, _ name: String, _ qualifier: String, _ hint: String
    ) -> RequestError {
        RequestError(
            .invalidHeader, stage: .build,
            "\(endpoint) has a \(qualifier)header \(name), which the transport writes. "
                + "Remove it. \(hint)")
    }

    private static let host = HTTPField.Name("Host")
}

extension RequestDescription {
    /// Whether the endpoint itself sets a header, with any of its overrides.
    func hasOwnHeader(_ name: HTTPField.Name) -> Bool {
        headers.contains(name)
            || customRequest?.headers.contains { HTTPField.Name($0.name) == name } == true
    }
}

/// Adds the configuration's headers for a host to a request; a pure function.
///
/// They override shared headers, not the request's own. The most specific pattern takes precedence.
enum HostHeaders {
    /// Adds the headers.
    ///
    /// - Returns: The added names; these fields must not be sent to another origin.
    /// - Throws: ``RequestError/Code/invalidConfiguration`` for an invalid pattern,
    ///   ``RequestError/Code/invalidHeader`` for a header that the transport writes.
    static func add(
        to request: inout TransportRequest, of description: RequestDescription,
        configuration: Configuration
    ) throws(RequestError) -> Set<HTTPField.Name> {
        guard !configuration.hostHeaders.isEmpty, description.uses.contains(.sharedHeaders),
            description.customRequest == nil, let host = request.url.host
        else { return [] }
        var own = Set(description.headers.map(\.name))
        if description.authorization != nil { own.insert(.authorization) }
        var added: Set<HTTPField.Name> = []
        for pattern in configuration.hostHeaders.keys.sorted(by: { $0.isLessSpecific(than: $1) }) {
            try pattern.check(in: "hostHeaders")
            guard pattern.matches(host), var fields = configuration.hostHeaders[pattern] else {
                continue
            }
            try HeaderBuilder.removeTransportFields(
                from: &fields, url: request.url, body: request.body, qualifier: "host ",
                sender: description.endpoint)
            HeaderBuilder.removeContentType(from: &fields, of: request.body)
            let names = Set(fields.map(\.name)).subtracting(own)
            for name in names { request.headers[fields: name] = [] }
            for field in fields where names.contains(field.name) { request.headers.append(field) }
            added.formUnion(names)
        }
        if added.contains(.contentType) {
            try HeaderBuilder.completeContentType(
                in: &request.headers, of: request.body, sender: description.endpoint)
        }
        return added
    }
}
