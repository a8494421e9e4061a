public import Foundation
import HTTPTypes

/// A request that must not be lost: what an ``Outbox`` keeps of it until it was delivered.
public struct OutboxEntry: Sendable, Hashable, Codable, Identifiable {
    /// A header of the request.
    public struct Header: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
    }

    /// Names the entry; also its `Idempotency-Key`, unless the request brought one.
    public var id: UUID
    /// The place in the order, given by the store.
    public var sequence: Int64 = 0
    /// When it was added.
    public var addedAt: Date
    /// The endpoint's type name.
    public var endpoint: String
    /// The endpoint's tag.
    public var tag: Int
    /// The method.
    public var method: String
    /// The absolute address, with the arguments that go into the query.
    public var url: String
    /// The request's own headers, without those that hold secrets.
    public var headers: [Header]
    /// The body.
    public var body: Data?
    /// The statuses that count as delivered.
    public var acceptableStatusCodes: Range<Int>
    /// How often a server refused it for a reason that may pass.
    public var refusals = 0
    /// Why the last attempt failed, without secrets; `nil` before the first.
    public var lastFailure: String?
    /// Whether it was set aside: it is not sent again until somebody asks for that.
    public var isSetAside = false

    /// The scheme, host and port: entries to one origin go one after another.
    package var lane: String { (try? URI(parsing: url).origin) ?? url }
}

extension OutboxEntry {
    /// What is kept of a request.
    init(
        _ request: TransportRequest, of description: RequestDescription, at date: Date, body: Data?
    ) {
        id = UUID()
        addedAt = date
        endpoint = description.endpoint
        tag = description.tag
        method = request.method.rawValue
        url = request.url.string
        headers = request.headers
            .filter { !SecretName.isSecret(header: $0.name.canonicalName) }
            .map { Header(name: $0.name.rawName, value: $0.value) }
        self.body = body
        acceptableStatusCodes = description.acceptableStatusCodes
        let key = HTTPField.Name.idempotencyKey
        if let key, !request.headers.contains(key) {
            headers.append(Header(name: key.rawName, value: id.uuidString))
        }
    }

    /// The request as it goes out each time; what the configuration adds is added anew.
    package var description: RequestDescription {
        var description = RequestDescription(endpoint: endpoint, url: url)
        description.tag = tag
        description.method = HTTPMethod(method)
        for header in headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            description.headers.append(HTTPField(name: name, value: header.value))
        }
        description.body = body.map { .data($0, contentType: nil) }
        description.usesSharedArguments = false
        description.acceptableStatusCodes = acceptableStatusCodes
        description.acceptableContentTypes = .any
        description.responseSerializer = .data
        // The outbox itself sends again, in order.
        description.retryPolicy = RetryPolicy.none
        return description
    }
}
