import Foundation
import HTTPTypes

/// A complete request, sent as it is: the parts of a `URLRequest` that are honoured when an endpoint brings its own
/// (row MET-5).
///
/// It can be written down and sent by a later process, for a queue of what could not be sent (row MET-10):
///
///     let saved = try JSONEncoder().encode(
///         CustomRequest(try await agent.transportRequest(for: endpoint.describe())))
///     …
///     let request = try JSONDecoder().decode(CustomRequest.self, from: saved)
///     try await InlineRequest("") { $0.customRequest = request }.send()
///
/// Credentials among its headers are written down with it: keep it where they may be kept.
public struct CustomRequest: Sendable {
    /// The absolute URL.
    public var url: String
    /// The method.
    public var method: HTTPMethod
    /// The headers.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: HTTPBody?

    /// Makes a request that is sent as it is.
    public init(
        url: String, method: HTTPMethod, headers: [(name: String, value: String)], body: HTTPBody?
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }

    /// Takes over a request that was made for the wire.
    public init(_ request: TransportRequest) {
        self.init(
            url: request.url.string, method: request.method,
            headers: request.headers.map { ($0.name.rawName, $0.value) }, body: request.body)
    }
}

extension CustomRequest: Codable {
    private enum Key: String, CodingKey { case url, method, headers, body, file, contentType }

    private struct Header: Codable {
        var name: String
        var value: String
    }

    /// Reads what ``encode(to:)`` wrote.
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
            url: try container.decode(String.self, forKey: .url),
            method: HTTPMethod(try container.decode(String.self, forKey: .method)),
            headers: try container.decode([Header].self, forKey: .headers).map {
                ($0.name, $0.value)
            }, body: body)
    }

    /// Writes the request down; a body in a file by the file's address.
    ///
    /// - Throws: `EncodingError` for a body that is a stream or multipart; `MultipartBody.write(to:)` makes a file of it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(url, forKey: .url)
        try container.encode(method.rawValue, forKey: .method)
        try container.encode(
            headers.map { Header(name: $0.name, value: $0.value) }, forKey: .headers)
        try container.encodeIfPresent(body?.contentType, forKey: .contentType)
        switch body?.storage {
        case nil: break
        case .data(let data): try container.encode(data, forKey: .body)
        case .file(let file): try container.encode(file, forKey: .file)
        case .stream, .source:
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "A body that is a stream or multipart cannot be written down."
                ))
        }
    }
}
