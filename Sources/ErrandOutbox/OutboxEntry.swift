public import ErrandSystem
import HTTPTypes

/// A request that an ``Outbox`` stores until it is delivered.
public struct OutboxEntry: Sendable, Hashable, Codable, Identifiable {
    /// One header field of the request.
    public struct Header: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
    }

    /// Identifies the entry; also its `Idempotency-Key`, unless the request has its own.
    public var id: UUID
    /// The position in the order, assigned by the store.
    public var sequence: Int64 = 0
    /// The time at which the request was added.
    public var addedAt: Date
    /// The endpoint's type name.
    public var endpoint: String
    /// The endpoint's tag.
    public var tag: Int
    /// The method.
    public var method: String
    /// The absolute URL after the configuration's `prepare`, including query arguments.
    public var url: String
    /// The request's own headers, without those that contain secrets.
    public var headers: [Header]
    /// The body; `nil` if there is none, or if the entry was read without its body: see
    /// ``bodyBytes``.
    public var body: Data?
    /// The size of the body in bytes, also if the entry was read without its body.
    public var bodyBytes = 0
    /// The statuses that count as delivered.
    public var acceptableStatusCodes: [Range<Int>]
    /// Whether the configuration's headers are added at each attempt; false for a custom request.
    public var usesSharedHeaders = true
    /// Whether cookies are sent and stored.
    public var usesCookies = true
    /// Whether the configuration's authenticators add credentials.
    public var usesAuthenticators = true
    /// Whether a cellular connection may be used.
    public var allowsCellularAccess = true
    /// Which redirects are followed; `nil` uses the configuration's policy.
    public var redirectPolicy: RedirectPolicy?
    /// The timeouts of each attempt; `nil` uses the configuration's.
    public var timeouts: Timeouts?
    /// How many times a server has refused the request with a temporary error.
    public var refusals = 0
    /// The error of the last failed attempt, without secrets; `nil` before the first.
    public var lastFailure: String?
    /// Whether the entry is parked: it is not sent until ``Outbox/retry(_:)`` is called.
    public var isParked = false

    private enum CodingKeys: String, CodingKey {
        case id, sequence, addedAt, endpoint, tag, method, url, headers, body, bodyBytes
        case acceptableStatusCodes, usesSharedHeaders, usesCookies, allowsCellularAccess
        case usesAuthenticators, redirectPolicy, timeouts, refusals, lastFailure
        // The key under which entries have been stored from the first version on.
        case isParked = "isSetAside"
    }

    /// The same entry without its body; ``bodyBytes`` is kept.
    public var withoutBody: OutboxEntry {
        var entry = self
        entry.bodyBytes = max(bodyBytes, body?.count ?? 0)
        entry.body = nil
        return entry
    }

    /// The approximate size of the entry in bytes.
    package var size: Int {
        headers.reduce(url.utf8.count + max(bodyBytes, body?.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }

    /// The origin (scheme, host, port); entries of one origin are sent one after another.
    package var lane: String { (try? HTTPURL(parsing: url).origin) ?? url }
}

extension OutboxEntry {
    /// Creates an entry from a request.
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
            .filter { !request.options.secretNames.isSecret(header: $0.name.rawName) }
            .map { Header(name: $0.name.rawName, value: $0.value) }
        self.body = body
        bodyBytes = body?.count ?? 0
        acceptableStatusCodes = description.acceptance.statuses.ranges ?? [200..<300]
        usesSharedHeaders =
            description.uses.contains(.sharedHeaders) && description.customRequest == nil
        usesCookies = description.uses.contains(.cookies)
        usesAuthenticators = description.uses.contains(.authenticators)
        allowsCellularAccess = description.uses.contains(.cellular)
        redirectPolicy = description.sending.redirects
        timeouts = description.timeouts
        let key = HTTPField.Name.idempotencyKey
        if let key, !request.headers.contains(key) {
            headers.append(Header(name: key.rawName, value: id.uuidString))
        }
    }

    /// Decodes an entry; members that an earlier version did not write get their defaults.
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
        // Numbers of a damaged entry must not overflow when they are added.
        let bodyBytes = try from.decodeIfPresent(Int.self, forKey: .bodyBytes) ?? body?.count ?? 0
        self.bodyBytes = max(0, min(bodyBytes, 1 << 40))
        // Earlier versions wrote one range.
        let range = try? from.decode(Range<Int>.self, forKey: .acceptableStatusCodes)
        acceptableStatusCodes =
            try range.map { [$0] }
            ?? from.decode([Range<Int>].self, forKey: .acceptableStatusCodes)
        func flag(_ key: CodingKeys) throws -> Bool {
            try from.decodeIfPresent(Bool.self, forKey: key) ?? true
        }
        usesSharedHeaders = try flag(.usesSharedHeaders)
        usesCookies = try flag(.usesCookies)
        usesAuthenticators = try flag(.usesAuthenticators)
        allowsCellularAccess = try flag(.allowsCellularAccess)
        redirectPolicy = try from.decodeIfPresent(RedirectPolicy.self, forKey: .redirectPolicy)
        timeouts = try from.decodeIfPresent(Timeouts.self, forKey: .timeouts)
        refusals = max(0, min(try from.decode(Int.self, forKey: .refusals), 1 << 32))
        lastFailure = try from.decodeIfPresent(String.self, forKey: .lastFailure)
        isParked = try from.decode(Bool.self, forKey: .isParked)
    }

    /// The description of one attempt; the configuration's headers and credentials are added to it.
    package var description: RequestDescription {
        var description = RequestDescription(endpoint: endpoint, url: EndpointURL(raw: url))
        description.tag = tag
        description.method = HTTPMethod(method)
        for header in headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            description.headers.append(HTTPField(name: name, value: header.value))
        }
        description.body = body.map { .data($0, contentType: nil) }
        description.isPrepared = true
        description.uses.remove(.sharedArguments)
        if !usesSharedHeaders { description.uses.remove(.sharedHeaders) }
        if !usesCookies { description.uses.remove(.cookies) }
        if !usesAuthenticators { description.uses.remove(.authenticators) }
        if !allowsCellularAccess { description.uses.remove(.cellular) }
        description.sending.redirects = redirectPolicy
        description.timeouts = timeouts
        description.acceptance.statuses = StatusCodes(ranges: acceptableStatusCodes)
        description.acceptance.contentTypes = ["*/*"]
        description.acceptance.format = .any
        // The outbox retries by itself, to keep the order.
        description.retryPolicy = RetryPolicy.none
        return description
    }
}

extension OutboxEntry: CustomReflectable {
    /// The parts of the entry, without its body, the query of its URL, and the values of its headers.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "id": id, "sequence": sequence, "addedAt": addedAt, "endpoint": endpoint,
                "tag": tag, "method": method,
                "url": (try? HTTPURL(parsing: url))?.redacted ?? "an invalid URL",
                "headers": headers.map(\.name), "bodyBytes": max(bodyBytes, body?.count ?? 0),
                "refusals": refusals, "lastFailure": lastFailure as Any, "isParked": isParked,
            ], displayStyle: .struct)
    }
}

extension OutboxEntry.Header: CustomStringConvertible, CustomReflectable {
    /// The name; the value may be secret.
    public var description: String { name }
    /// The name; the value may be secret.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
