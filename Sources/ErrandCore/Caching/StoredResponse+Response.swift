package import ErrandSystem
import HTTPTypes

extension Response {
    /// Turns a complete response into a partial one, as a server would send it (RFC 9110 §15.3.7).
    package mutating func narrow(to part: Range<Int>) {
        let large = stream as? StoredResponse.LargeBody
        let whole = data
        let count = large?.parts.count ?? whole.count
        status = .partialContent
        headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)"
        headers[.contentLength] = String(part.count)
        if let large { return self = streamed(large.part(part)) }
        let bytes = whole.dropFirst(part.lowerBound).prefix(part.count)
        body = .data(Data(bytes))
    }
}

extension Response {
    /// The headers, and the coding of a body that was decoded.
    package var headersToStore: HTTPFields {
        guard let coding = decodedCoding, let name = StoredResponse.decodedCoding else {
            return headers
        }
        var headers = headers
        headers[name] = coding
        return headers
    }
}

extension StoredResponse {
    /// Creates an entry from a response; `nil` if its body is a file.
    package init?(_ response: Response, rules: CacheRules, tag: Int, storedAt: Date) {
        guard case .data(let body) = response.body else { return nil }
        // These fields apply to one exchange only. Cookies are stored in the cookie jar.
        let passing: Set<HTTPField.Name> = [
            .setCookie, .wwwAuthenticate, .authenticationInfo, .proxyAuthenticate,
        ]
        var headers = response.headersToStore
        if headers.contains(where: { passing.contains($0.name) }) {
            headers = HTTPFields(headers.filter { !passing.contains($0.name) })
        }
        // The fragment is not part of the key: requests with different fragments share the entry.
        var url = response.url
        url.fragment = nil
        self.init(
            status: response.status.code, headers: headers, body: body,
            url: url.string, storedAt: storedAt, cacheVersion: rules.cacheVersion,
            appVersion: rules.appVersion, identity: rules.identity, tag: tag,
            expiresAt: storedAt + Double(max(0, rules.cacheSeconds)))
        largeBody = response.stream as? LargeBody
    }

    /// The field of an entry whose body was decoded, with the codings; no response has it.
    fileprivate static let decodedCoding = HTTPField.Name("Errand-Decoded-Content-Encoding")

    /// Whether the bytes are those of the representation, without a content coding.
    ///
    /// A range refers to the encoded bytes (RFC 9110 §14.2), also of a body that is stored decoded.
    package var hasNoCoding: Bool {
        !headers.contains(.contentEncoding)
            && Self.decodedCoding.map { !headers.contains($0) } != false
    }

    /// Whether the entry is a redirect that can be followed.
    package var isRedirect: Bool {
        (300..<400).contains(status) && [301, 302, 303, 307, 308].contains(status)
            && headers.contains(.location)
    }

    /// The response of this entry; `nil` if the stored status is not a final status.
    ///
    /// - Parameters:
    ///   - requestURL: The URL of the request. Usually it equals the stored URL, which then need not be
    ///     parsed.
    ///   - source: The source of the response.
    ///   - age: The age of the response; `nil` if the server has confirmed it now.
    ///   - change: Changes the headers, which costs more in a response.
    package func response(
        to requestURL: HTTPURL, source: Response.Source, age: Duration? = nil,
        changingHeaders change: (inout HTTPFields) -> Void = { _ in }
    ) -> Response? {
        guard (200..<1000).contains(status) else { return nil }
        let address =
            requestURL.hasText(url) ? requestURL : (try? HTTPURL(parsing: url)) ?? requestURL
        var headers = headers
        let coding = Self.decodedCoding.flatMap { headers.text(of: $0) }
        if coding != nil {
            for name in [Self.decodedCoding, .contentEncoding, .contentLength] {
                if let name { headers[name] = nil }
            }
        }
        change(&headers)
        let response = Response(
            storedStatus: HTTPResponse.Status(code: status), headers: headers, body: .data(body),
            url: address, source: source, age: age, decodedCoding: coding)
        // Each reader has its own object, because it notices its own end.
        return largeBody.map { response.streamed(LargeBody($0.parts)) } ?? response
    }
}
