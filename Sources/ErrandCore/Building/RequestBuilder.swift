package import HTTPTypes

/// Makes the request for the wire from what an endpoint says and what the configuration adds.
///
/// Pure: it reads no file and waits for nobody. Filters and providers have run before.
package struct RequestBuilder {
    package init() {}

    /// The request, everything in it checked.
    ///
    /// - Parameters:
    ///   - sharedHeaders: The configuration's headers, provider's included; empty for an endpoint that
    ///     does not use them. The same for `sharedArguments`.
    ///   - relativeURL: The endpoint's URL after the filters.
    /// - Throws: What is wrong, with stage ``RequestError/Stage/build``; nothing has been sent.
    package func build(
        _ description: RequestDescription, configuration: Configuration, sharedHeaders: HTTPFields,
        sharedArguments: Arguments, relativeURL: String
    ) throws(RequestError) -> TransportRequest {
        let method =
            if let custom = description.customRequest { custom.method } else { description.method }
        try RequestSettings.check(method, of: description)
        var url: URI
        let body: HTTPBody?
        if let custom = description.customRequest {
            url = try URLBuilder.url(of: description, configuration, relativeURL: custom.url)
            body = custom.body
        } else {
            url = try URLBuilder.url(of: description, configuration, relativeURL: relativeURL)
            if ArgumentPlacing.isNeeded(for: description, shared: sharedArguments) {
                let arguments = ArgumentPlacing(
                    description, configuration, shared: sharedArguments)
                url.appendQuery(try arguments.query())
                body = try arguments.body()
            } else {
                body = description.body
            }
        }
        try RequestSettings.check(body, with: method, of: description)
        let headers = try HeaderBuilder.headers(
            of: description, configuration,
            shared: description.customRequest == nil ? sharedHeaders : [:], url: url, body: body)
        url.userInfo = nil
        url.fragment = nil
        return TransportRequest(
            method: method, url: url, headers: headers, body: body,
            timeouts: try RequestSettings.timeouts(of: description, configuration),
            options: RequestSettings.options(for: method, of: description, configuration))
    }

    /// An absolute address that may be sent: what a filter of absolute URLs made.
    ///
    /// The fragment is dropped.
    ///
    /// - Throws: ``RequestError/Code/invalidURL``.
    package static func absoluteURL(parsing text: String) throws(RequestError) -> URI {
        var url = try URI(parsing: text)
        guard url.isAbsoluteHTTP else {
            throw RequestError(
                .invalidURL, stage: .adapt,
                "A filter of absolute URLs returned one that is no absolute http or https address.")
        }
        guard url.userInfo == nil else {
            throw RequestError(
                .invalidURL, stage: .adapt,
                "A filter of absolute URLs returned one with user and password; "
                    + "set the endpoint's authorization.")
        }
        url.path = URI.removingDotSegments(url.path)
        url.fragment = nil
        return url
    }

    /// The same request with the arguments that count for the cache's key, where they differ (row CAC-7).
    ///
    /// `nil` when the endpoint names none: then the request itself makes the key.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``.
    package static func keyRequest(
        for request: TransportRequest, description: RequestDescription,
        configuration: Configuration, sharedArguments: Arguments
    ) throws(RequestError) -> TransportRequest? {
        guard description.customRequest == nil, let counting = description.cacheArguments
        else { return nil }
        let full = ArgumentPlacing(description, configuration, shared: sharedArguments)
        let reduced = ArgumentPlacing(
            description, configuration, arguments: counting, shared: sharedArguments)
        var key = request
        let query = try full.query()
        if !query.isEmpty, let present = request.url.query, present.hasSuffix(query) {
            let before = present.dropLast(query.count)
            key.url.query =
                before.isEmpty ? nil : String(before.last == "&" ? before.dropLast() : before)
            key.url.appendQuery(try reduced.query())
        }
        if description.body == nil { key.body = try reduced.body() }
        return key
    }
}
