import HTTPTypes

/// Puts the headers that a configuration has for a host on a request: a pure function.
///
/// Stronger than the headers shared by all hosts, weaker than the request's own. Of several patterns the more
/// particular one wins.
enum HostHeaders {
    /// Adds the headers.
    ///
    /// - Returns: The names that were added; they must not leave the request's origin.
    /// - Throws: ``RequestError/Code/invalidConfiguration`` for a pattern that matches nothing.
    static func add(
        to request: inout TransportRequest, of description: RequestDescription,
        configuration: Configuration
    ) throws(RequestError) -> Set<HTTPField.Name> {
        guard !configuration.hostHeaders.isEmpty, description.usesSharedHeaders,
            description.customRequest == nil, let host = request.url.host
        else { return [] }
        var own = Set(description.headers.map(\.name))
        own.formUnion(description.headerFieldValues.keys.compactMap { HTTPField.Name($0) })
        if description.authorization != nil { own.insert(.authorization) }
        var added: Set<HTTPField.Name> = []
        for pattern in configuration.hostHeaders.keys.sorted(by: { $0.isWeaker(than: $1) }) {
            try pattern.check(in: "hostHeaders")
            guard pattern.matches(host), let fields = configuration.hostHeaders[pattern] else {
                continue
            }
            let names = Set(fields.map(\.name)).subtracting(own)
            for name in names { request.headers[fields: name] = [] }
            for field in fields where names.contains(field.name) { request.headers.append(field) }
            added.formUnion(names)
        }
        return added
    }
}
