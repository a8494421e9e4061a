/// The encoded form of an endpoint URL: its text.
package struct StoredEndpointURL: Sendable, Hashable, Codable {
    package let url: EndpointURL

    package init(_ url: EndpointURL) { self.url = url }

    package init(from decoder: any Decoder) throws {
        url = EndpointURL(raw: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the text.
    ///
    /// - Throws: `EncodingError` for a URL with a value that would lead to another endpoint, because the text does not
    ///   show that it is refused.
    package func encode(to encoder: any Encoder) throws {
        guard url.fault == nil else {
            throw EncodingError.invalidValue(
                url,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription:
                        "A URL with a value that would lead to another endpoint cannot be encoded.")
            )
        }
        var container = encoder.singleValueContainer()
        try container.encode(url.text)
    }
}
