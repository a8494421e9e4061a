/// Builds the URL of a request from the endpoint's URL and the base URLs.
enum URLBuilder {
    /// The absolute URL, with the endpoint's own query and fragment, without the arguments.
    ///
    /// - Parameter relativeURL: The endpoint's URL, after the filters.
    /// - Throws: ``RequestError/Code/invalidURL``, ``RequestError/Code/noBaseURL``.
    static func url(
        of description: RequestDescription, _ configuration: Configuration, relativeURL: String
    ) throws(RequestError) -> URI {
        let reference = try parse(relativeURL, of: "url", endpoint: description.endpoint)
        if reference.scheme != nil {
            return try checkedAbsolute(reference, endpoint: description.endpoint)
        }
        let base = try base(of: description, configuration, isURLEmpty: relativeURL.isEmpty)
        var url = try join(base, reference, text: relativeURL, description, configuration)
        if let version = version(of: description, configuration),
            case .query(let name) = configuration.apiVersionPlacement
        {
            var bytes: [UInt8] = []
            PercentEncoding.append(name.utf8, keeping: .unreserved, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            PercentEncoding.append(version.utf8, keeping: .unreserved, to: &bytes)
            url.appendQuery(String(decoding: bytes, as: UTF8.self))
        }
        return url
    }

    /// The API version without leading and trailing slashes; `nil` if there is none.
    static func version(
        of description: RequestDescription, _ configuration: Configuration
    ) -> String? {
        guard let version = description.apiVersion ?? configuration.apiVersion else { return nil }
        var trimmed = version.dropping(leadingByte: "/")
        while let shorter = trimmed.dropping(suffix: "/") { trimmed = shorter }
        return trimmed.isEmpty ? nil : String(trimmed)
    }

    /// The base URL; empty strings count as unset.
    private static func base(
        of description: RequestDescription, _ configuration: Configuration, isURLEmpty: Bool
    ) throws(RequestError) -> URI {
        var candidate: String?
        if description.usesCDN {
            candidate = nonEmpty(description.cdnURL) ?? nonEmpty(configuration.cdnURL)
        }
        guard
            let text = candidate ?? nonEmpty(description.baseURL) ?? nonEmpty(configuration.baseURL)
        else {
            throw isURLEmpty
                ? RequestError(
                    .invalidURL, stage: .build,
                    "\(description.endpoint)'s url is empty and there is no base URL. "
                        + "Override url, or set the configuration's baseURL.")
                : RequestError(
                    .noBaseURL, stage: .build,
                    "\(description.endpoint)'s url is relative and there is no base URL. Set the "
                        + "configuration's baseURL, override baseURL, or make url absolute: https://…."
                )
        }
        let base = try parse(text, of: "base URL", endpoint: description.endpoint)
        guard base.isAbsoluteHTTP else {
            throw RequestError(
                .invalidURL, stage: .build,
                "\(description.endpoint)'s base URL is not an absolute http or https URL. "
                    + "It must look like https://example.com/api/.")
        }
        return base
    }

    private static func nonEmpty(_ text: String?) -> String? {
        text?.isEmpty == false ? text : nil
    }

    private static func join(
        _ base: URI, _ reference: URI, text: String, _ description: RequestDescription,
        _ configuration: Configuration
    ) throws(RequestError) -> URI {
        let version = pathVersion(of: description, configuration)
        if reference.path.isEmpty, reference.host == nil {
            return extended(base, version: version, by: reference)
        }
        if version == nil, configuration.urlJoining == .rfc3986 {
            return ParsedURLs.shared.resolve(reference, against: base)
        }
        let base = base.asDirectory
        var reference = reference
        switch configuration.urlJoining {
        case .rfc3986:
            if let version, reference.host == nil {
                let isRooted = reference.path.utf8.first == UInt8(ascii: "/")
                reference.path =
                    isRooted ? "/\(version)\(reference.path)" : "\(version)/\(reference.path)"
            }
            return reference.resolved(against: base)
        case .append:
            // The dot segment keeps a path without leading slashes from being parsed as a host or a
            // scheme.
            reference = try parse(
                "./" + Substring(text.utf8.drop(while: ByteSet("/ ").contains)), of: "url",
                endpoint: description.endpoint)
            if let version { reference.path = version + "/" + reference.path.dropFirst(2) }
            var joined = reference.resolved(against: base)
            joined.query = base.query
            joined.appendQuery(reference.query ?? "")
            return joined
        }
    }

    /// The base as written, with the version below it and the query of a reference without a path.
    private static func extended(_ base: URI, version: String?, by reference: URI) -> URI {
        var url = base
        if let version { url.path = base.asDirectory.path + version }
        url.path = URI.removingDotSegments(url.path.isEmpty ? "/" : url.path)
        url.appendQuery(reference.query ?? "")
        url.fragment = reference.fragment
        return url
    }

    private static func pathVersion(
        of description: RequestDescription, _ configuration: Configuration
    ) -> String? {
        guard case .path = configuration.apiVersionPlacement,
            let version = version(of: description, configuration)
        else { return nil }
        var bytes: [UInt8] = []
        PercentEncoding.appendKeepingEscapes(version.utf8, keeping: URIBytes.path, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func parse(
        _ text: String, of what: String, endpoint: String
    ) throws(RequestError) -> URI {
        do throws(RequestError) {
            return try ParsedURLs.shared.url(parsing: text)
        } catch {
            throw RequestError(
                error.code, stage: error.stage, "\(endpoint)'s \(what): \(error.message)")
        }
    }

    private static func checkedAbsolute(_ url: URI, endpoint: String) throws(RequestError) -> URI {
        guard url.scheme == "http" || url.scheme == "https" else {
            throw RequestError(
                .invalidURL, stage: .build,
                "\(endpoint)'s url has the scheme \"\(url.scheme ?? "")\"; only http and https can be sent. "
                    + "If it is a path with a colon, start it with ./ or a slash.")
        }
        guard url.isAbsoluteHTTP else {
            throw RequestError(
                .invalidURL, stage: .build,
                "\(endpoint)'s url has a scheme but no host. It must look like https://example.com/path."
            )
        }
        guard URI.mayHoldDotSegments(url.path) else { return url }
        var url = url
        url.path = URI.removingDotSegments(url.path)
        return url
    }
}

extension RequestError {
    /// Names a request that was built, unless the error names one already.
    mutating func name(_ request: TransportRequest, of context: TaskContext) {
        guard endpoint == nil else { return }
        name(endpoint: context.description.endpoint, method: request.method, url: request.url)
    }

    /// Names the request of a task by its description, unless the error names one already.
    mutating func name(_ context: TaskContext) { name(context.description, context.configuration) }

    /// Names a request by its description, unless the error names one already.
    package mutating func name(
        _ description: RequestDescription, _ configuration: Configuration
    ) {
        guard endpoint == nil else { return }
        let custom = description.customRequest
        let text = custom?.url ?? description.url
        var url = response?.url
        if url == nil, let configuration = try? configuration.inEnvironment() {
            url = try? URLBuilder.url(of: description, configuration, relativeURL: text)
        }
        name(
            endpoint: description.endpoint, method: custom?.method ?? description.method,
            url: url ?? (try? URI(parsing: text)))
    }
}
