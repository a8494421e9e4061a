public import ErrandHTTP
import ErrandSystem
import HTTPTypes

/// A complete request that is sent as it is, without the endpoint's URL, method, headers and body.
///
/// It contains the parts of a `URLRequest` that are supported. It is `Codable`, so that an app can save an
/// unsent request and send it after the next launch:
///
///     let saved = try JSONEncoder().encode(
///         CustomRequest(try await agent.transportRequest(for: endpoint.makeDescription())))
///     …
///     let request = try JSONDecoder().decode(CustomRequest.self, from: saved)
///     try await InlineRequest("") { $0.customRequest = request }.send()
///
/// The encoded form contains the headers with their credentials: store it in a protected place.
public struct CustomRequest: Sendable {
    /// The absolute URL.
    public var url: EndpointURL
    /// The method.
    public var method: HTTPMethod
    /// The headers, in order.
    public var headers: [(name: String, value: String)]
    /// The body; `nil` sends none.
    public var body: HTTPBody?

    /// Creates a request.
    public init(
        url: EndpointURL, method: HTTPMethod, headers: [(name: String, value: String)],
        body: HTTPBody?
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

extension CustomRequest: Codable {
    private enum Key: String, CodingKey { case url, method, headers, body, file, contentType }

    private struct Header: Codable {
        var name: String
        var value: String
    }

    /// Decodes a request that ``encode(to:)`` encoded.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let type = try container.decodeIfPresent(String.self, forKey: .contentType)
        var body: HTTPBody?
        if let data = try container.decodeIfPresent(Data.self, forKey: .body) {
            body = .data(data, contentType: type)
        } else if let file = try container.decodeIfPresent(URL.self, forKey: .file) {
            body = .file(file, contentType: type)
        }
        self.init(
            url: try container.decode(StoredEndpointURL.self, forKey: .url).url,
            method: HTTPMethod(try container.decode(String.self, forKey: .method)),
            headers: try container.decode([Header].self, forKey: .headers).map {
                ($0.name, $0.value)
            }, body: body)
    }

    /// Encodes the request; a file body is encoded as the URL of its file.
    ///
    /// - Throws: `EncodingError` for a URL with a value that would lead to another endpoint, for a body with trailers,
    ///   and for a stream or multipart body; `HTTPBody.write(to:)` turns the latter into a file.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(StoredEndpointURL(url), forKey: .url)
        try container.encode(method.rawValue, forKey: .method)
        try container.encode(
            headers.map { Header(name: $0.name, value: $0.value) }, forKey: .headers)
        try container.encodeIfPresent(body?.contentType, forKey: .contentType)
        guard body?.trailerSource == nil else {
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription:
                        "A body with trailers cannot be encoded, because closures make them."))
        }
        switch body?.storage {
        case nil: break
        case .data(let data): try container.encode(data, forKey: .body)
        case .file(let file): try container.encode(file, forKey: .file)
        case .value(let encode): try container.encode(encode(.requestDefault), forKey: .body)
        case .invalid(let error): throw error
        case .stream, .multipart:
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription:
                        "A stream or multipart body cannot be encoded. Write it to a file and use a file body."
                ))
        }
    }
}

extension CustomRequest: CustomStringConvertible, CustomReflectable {
    /// The names of the headers; neither values nor the body.
    public var customMirror: Mirror { Mirror(self, children: ["headers": headers.map(\.name)]) }

    /// The method and the URL without its query.
    public var description: String {
        "\(method) \(url.redacted)"
    }
}
