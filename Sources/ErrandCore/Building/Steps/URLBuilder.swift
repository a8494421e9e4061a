/// Builds the URL of a request from the endpoint's URL and the base URLs.
enum URLBuilder {
    /// The absolute URL, with the endpoint's own query and fragment, without the arguments.
    ///
    /// - Parameter url: The endpoint's URL, after the filters.
    /// - Throws: ``RequestError/Code/invalidURL``, ``RequestError/Code/noBaseURL``.
    static func url(
        of description: RequestDescription, _ configuration: Configuration, url: EndpointURL
    ) throws(RequestError) -> HTTPURL {
        let reference = try parse(url, of: "url", endpoint: description.endpoint)
        if reference.scheme != nil {
            return try checkedAbsolute(reference, endpoint: description.endpoint)
        }
        guard !reference.path.utf8.starts(with: "//".utf8) else {
            throw RequestError(
                .invalidURL, stage: .build,
                "\(description.endpoint)'s url begins with two slashes. Write one for a path, or https:// for "
                    + "another host.")
        }
        let base = try base(of: description, configuration, isURLEmpty: url.isEmpty)
        guard let version = version(of: description, configuration) else {
            return ParsedURLs.shared.join(reference, below: base)
        }
        var bytes: [UInt8] = []
        PercentEncoding.appendKeepingEscapes(version.utf8, keeping: URIBytes.path, to: &bytes)
        return reference.joined(below: base, through: String(decoding: bytes, as: UTF8.self))
    }

    /// Refuses a URL with a value that would lead to another endpoint.
    ///
    /// - Throws: ``RequestError/Code/invalidURL``, without the value.
    static func check(
        _ url: EndpointURL, of what: String = "url", endpoint: String
    ) throws(RequestError) {
        guard let fault = url.fault else { return }
        throw RequestError(.invalidURL, stage: .build, "\(endpoint)'s \(what) \(fault.reason)")
    }

    /// The API version without leading and trailing slashes; `nil` if there is none.
    private static func version(
        of description: RequestDescription, _ configuration: Configuration
    ) -> String? {
        guard let version = description.apiVersion ?? configuration.apiVersion else { return nil }
        var trimmed = version.dropping(leadingByte: "/")
        while let shorter = trimmed.dropping(suffix: "/") { trimmed = shorter }
        return trimmed.isEmpty ? nil : String(trimmed)
    }

    /// The base URL; empty text counts as unset.
    private static func base(
        of description: RequestDescription, _ configuration: Configuration, isURLEmpty: Bool
    ) throws(RequestError) -> HTTPURL {
        var candidate: EndpointURL?
        if description.usesCDN {
            candidate = nonEmpty(description.cdnURL) ?? nonEmpty(configuration.cdnURL)
        }
        guard
            let url = candidate ?? nonEmpty(description.baseURL) ?? nonEmpty(configuration.baseURL)
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
        let base = try parse(url, of: "base URL", endpoint: description.endpoint)
        guard base.isAbsoluteHTTP else {
            throw notAbsolute(url, candidate, description, configuration)
        }
        return base
    }

    /// The error of a base URL that is not absolute, with its value and the place where it was set.
    private static func notAbsolute(
        _ url: EndpointURL, _ cdnURL: EndpointURL?, _ description: RequestDescription,
        _ configuration: Configuration
    ) -> RequestError {
        let member = cdnURL == nil ? "baseURL" : "cdnURL"
        let isOwn = nonEmpty(cdnURL == nil ? description.baseURL : description.cdnURL) != nil
        let place = isOwn ? member : "configuration.\(member)"
        let text = url.text
        // As of other URLs, user information, query and fragment are not shown.
        let isShown = !text.utf8.contains {
            [UInt8(ascii: "@"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0)
        }
        let start = text.lowercasedASCII()
        let lacksScheme =
            isShown && !["://", " "].contains(where: text.contains)
            && !["/", "http:", "https:", "http/", "https/"].contains {
                start.starts(withBytes: $0)
            }
        return RequestError(
            .invalidURL, stage: .build,
            "\(description.endpoint)'s base URL\(isShown ? " \"\(text)\"" : "") (\(place)) is no absolute http or "
                + "https URL. "
                + (lacksScheme
                    ? "Write http://\(text) or https://\(text)."
                    : "It must look like https://example.com/api/."))
    }

    private static func nonEmpty(_ url: EndpointURL?) -> EndpointURL? {
        url?.isEmpty == false ? url : nil
    }

    private static func parse(
        _ url: EndpointURL, of what: String, endpoint: String
    ) throws(RequestError) -> HTTPURL {
        if url.fault != nil { try check(url, of: what, endpoint: endpoint) }
        do throws(RequestError) {
            return try ParsedURLs.shared.url(parsing: url.text)
        } catch {
            throw RequestError(
                error.code, stage: error.stage, "\(endpoint)'s \(what): \(error.message)")
        }
    }

    private static func checkedAbsolute(_ url: HTTPURL, endpoint: String) throws(RequestError)
        -> HTTPURL
    {
        guard url.scheme == "http" || url.scheme == "https" else {
            throw RequestError(
                .invalidURL, stage: .build,
                "\(endpoint)'s url has the scheme \"\(url.scheme ?? "")\"; only http and https can be sent."
            )
        }
        guard url.isAbsoluteHTTP else {
            throw RequestError(
                .invalidURL, stage: .build,
                "\(endpoint)'s url has a scheme but no host. It must look like https://example.com/path."
            )
        }
        guard HTTPURL.mayHoldDotSegments(url.path) else { return url }
        var url = url
        url.path = HTTPURL.removingDotSegments(url.path)
        return url
    }
}

extension RequestError {
    /// Names a request that was built, unless the error names one already.
    mutating func name(_ request: TransportRequest, of task: RequestTask) {
        guard endpoint == nil else { return }
        name(endpoint: task.description.endpoint, method: request.method, url: request.url)
    }

    /// Names the request of a task by its description, unless the error names one already.
    mutating func name(_ task: RequestTask) { name(task.description, task.configuration) }

    /// Names a request by its description, unless the error names one already.
    package mutating func name(
        _ description: RequestDescription, _ configuration: Configuration
    ) {
        guard endpoint == nil else { return }
        let custom = description.customRequest
        let own = custom?.url ?? description.url
        var url = response?.url
        if url == nil, let configuration = try? configuration.inEnvironment() {
            url = try? URLBuilder.url(of: description, configuration, url: own)
        }
        // A refused URL contains the value for which it is refused.
        if url == nil, own.fault == nil { url = try? HTTPURL(parsingEndpoint: own.text) }
        name(
            endpoint: description.endpoint, method: custom?.method ?? description.method, url: url)
    }
}
