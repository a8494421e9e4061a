package import HTTPTypes

/// Which addresses a change makes out of date (RFC 9111 §4.4); pure.
package enum CacheInvalidation {
    /// Whether a method may change something (RFC 9110 §9.2.1); unknown ones may.
    package static func mayChange(_ method: HTTPMethod) -> Bool {
        ![.get, .head, .options, .trace].contains(method)
    }

    /// The addresses of an answer to such a method; empty for errors.
    package static func addresses(
        target: URI, status: Int, headers: HTTPFields
    ) -> [URI] {
        guard (200..<400).contains(status) else { return [] }
        var addresses = [target]
        for name: HTTPField.Name in [.location, .contentLocation] {
            guard let text = headers[values: name].first,
                let address = try? URI.resolve(text, against: target),
                address.origin == target.origin, !addresses.contains(address)
            else { continue }
            addresses.append(address)
        }
        return addresses
    }
}
