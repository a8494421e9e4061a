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
    /// The absolute address behind the configuration's URL filters, with the arguments that go into the query.
    public var url: String
    /// The request's own headers, without those that hold secrets.
    public var headers: [Header]
    /// The body; `nil` where there is none, and where only its size was read: see ``bodyBytes``.
    public var body: Data?
    /// How many bytes the body has, also where it was not read with the rest.
    public var bodyBytes = 0
    /// The statuses that count as delivered.
    public var acceptableStatusCodes: Range<Int>
    /// Whether the configuration's headers are added at each attempt; false for a complete request of its own.
    public var usesSharedHeaders = true
    /// Whether cookies are sent and stored.
    public var usesCookies = true
    /// Whether a mobile connection may be used.
    public var allowsCellularAccess = true
    /// Which redirects are followed; `nil` takes the configuration's.
    public var redirectPolicy: RedirectPolicy?
    /// Time limits of each attempt; `nil` takes the configuration's.
    public var timeouts: Timeouts?
    /// How often a server refused it for a reason that may pass.
    public var refusals = 0
    /// Why the last attempt failed, without secrets; `nil` before the first.
    public var lastFailure: String?
    /// Whether it was set aside: it is not sent again until somebody asks for that.
    public var isSetAside = false

    /// The same entry without its body, whose size stays known.
    public var withoutBody: OutboxEntry {
        var entry = self
        entry.bodyBytes = max(bodyBytes, body?.count ?? 0)
        entry.body = nil
        return entry
    }

    /// How many bytes it has, about.
    package var size: Int {
        headers.reduce(url.utf8.count + max(bodyBytes, body?.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }

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
        bodyBytes = body?.count ?? 0
        acceptableStatusCodes = description.acceptableStatusCodes
        usesSharedHeaders = description.usesSharedHeaders && description.customRequest == nil
        usesCookies = description.usesCookies
        allowsCellularAccess = description.allowsCellularAccess
        redirectPolicy = description.redirectPolicy
        timeouts = description.timeouts
        let key = HTTPField.Name.idempotencyKey
        if let key, !request.headers.contains(key) {
            headers.append(Header(name: key.rawName, value: id.uuidString))
        }
    }

    /// Reads an entry; what an earlier version did not write has its default.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let from = try decoder.container(keyedBy: CodingKeys.self)
        id = try from.decode(UUID.self, forKey: .id)
        sequence = try from.decode(Int64.self, forKey: .sequence)
        addedAt = try from.decode(Date.self, forKey: .addedAt)
        endpoint = try from.decode(String.self, forKey: .endpoint)
        tag = try from.decode(Int.self, forKey: .tag)
        method = try from.decode(String.self, forKey: .method)
        url = try from.decode(String.self, forKey: .url)
        headers = try from.decode([Header].self, forKey: .headers)
        body = try from.decodeIfPresent(Data.self, forKey: .body)
        bodyBytes = try from.decodeIfPresent(Int.self, forKey: .bodyBytes) ?? body?.count ?? 0
        acceptableStatusCodes = try from.decode(Range<Int>.self, forKey: .acceptableStatusCodes)
        func flag(_ key: CodingKeys) throws -> Bool {
            try from.decodeIfPresent(Bool.self, forKey: key) ?? true
        }
        usesSharedHeaders = try flag(.usesSharedHeaders)
        usesCookies = try flag(.usesCookies)
        allowsCellularAccess = try flag(.allowsCellularAccess)
        redirectPolicy = try from.decodeIfPresent(RedirectPolicy.self, forKey: .redirectPolicy)
        timeouts = try from.decodeIfPresent(Timeouts.self, forKey: .timeouts)
        refusals = try from.decode(Int.self, forKey: .refusals)
        lastFailure = try from.decodeIfPresent(String.self, forKey: .lastFailure)
        isSetAside = try from.decode(Bool.self, forKey: .isSetAside)
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
        description.isURLFiltered = true
        description.usesSharedArguments = false
        description.usesSharedHeaders = usesSharedHeaders
        description.usesCookies = usesCookies
        description.allowsCellularAccess = allowsCellularAccess
        description.redirectPolicy = redirectPolicy
        description.timeouts = timeouts
        description.acceptableStatusCodes = acceptableStatusCodes
        description.acceptableContentTypes = .any
        description.responseSerializer = .data
        // The outbox itself sends again, in order.
        description.retryPolicy = RetryPolicy.none
        return description
    }
}
