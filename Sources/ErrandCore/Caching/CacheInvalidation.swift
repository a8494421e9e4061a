package import HTTPTypes

/// Finds the URLs whose stored responses an unsafe request invalidates (RFC 9111 §4.4); pure.
package enum CacheInvalidation {
    /// Whether a method is unsafe (RFC 9110 §9.2.1); unknown methods count as unsafe.
    package static func mayChange(_ method: HTTPMethod) -> Bool { !method.isSafe }

    /// The target URL, and the URLs of `Location` and `Content-Location` with the same origin.
    ///
    /// Empty if the status is not 2xx or 3xx.
    package static func addresses(
        target: HTTPURL, status: Int, headers: HTTPFields
    ) -> [HTTPURL] {
        guard (200..<400).contains(status) else { return [] }
        var addresses = [target]
        for name: HTTPField.Name in [.location, .contentLocation] {
            guard let text = headers.receivedReferences(name).first,
                let address = try? HTTPURL.resolve(text, against: target),
                address.origin == target.origin, !addresses.contains(address)
            else { continue }
            addresses.append(address)
        }
        return addresses
    }
}
