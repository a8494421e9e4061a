extension HTTPURL {
    /// Parses text into components and percent-encodes characters that they must not contain.
    ///
    /// Spaces and non-ASCII characters become percent escapes; non-ASCII host labels become `xn--…`. Existing
    /// escapes are kept. The scheme and the host become lower case. Spaces around the text are removed.
    ///
    /// - Throws: ``RequestError/Code/invalidURL`` for control characters (CR, LF and NUL among them), a port
    ///   outside 1 to 65535, and an invalid host.
    public init(parsing text: String) throws(RequestError) {
        try self.init(text, isPath: false)
    }

    /// Parses the text of an ``EndpointURL``: text without `://` after a scheme has neither scheme nor host.
    ///
    /// - Throws: ``RequestError/Code/invalidURL``, in the same cases as ``init(parsing:)``.
    package init(parsingEndpoint text: String) throws(RequestError) {
        try self.init(text, isPath: !EndpointURL.isAbsolute(text))
    }

    private init(_ text: String, isPath: Bool) throws(RequestError) {
        do throws(InvalidURI) {
            self = try URIParser.parse(text, isPath: isPath)
        } catch {
            throw RequestError(.invalidURL, stage: .build, error.reason)
        }
    }

    /// Resolves a reference, such as the value of `Location`, against a base URI (RFC 3986 §5.2).
    ///
    /// - Throws: ``RequestError/Code/invalidURL``, in the same cases as ``init(parsing:)``.
    public static func resolve(
        _ reference: String, against base: HTTPURL
    ) throws(RequestError) -> HTTPURL {
        try HTTPURL(parsing: reference).resolved(against: base)
    }
}
