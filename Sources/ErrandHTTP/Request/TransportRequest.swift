public import HTTPTypes
import Synchronization

/// A complete, validated and encoded request, as a transport receives it.
public struct TransportRequest: Sendable {
    /// The method; a valid token.
    public var method: HTTPMethod {
        @inlinable get { shared.value.method }
        set { change { $0.method = newValue } }
    }
    /// The URL: absolute, http or https, without user info and fragment.
    public var url: HTTPURL {
        @inlinable get { shared.value.url }
        set { change { $0.url = newValue } }
    }
    /// The header fields to send, in order.
    ///
    /// The transport adds `Host`, `Content-Length` and `Transfer-Encoding`, and `Trailer` for a body with trailers.
    public var headers: HTTPFields {
        @inlinable get { shared.value.headers }
        set { change { $0.headers = newValue } }
    }
    /// The body; `nil` sends no body.
    ///
    /// An empty body sends `Content-Length: 0`.
    public var body: HTTPBody? {
        @inlinable get { shared.value.body }
        set { change { $0.body = newValue } }
    }
    /// The time limits, exact to the millisecond.
    ///
    /// The transport enforces the connect and idle limits; the agent enforces the total.
    public var timeouts: Timeouts {
        @inlinable get { shared.value.timeouts }
        set { change { $0.timeouts = newValue } }
    }
    /// The transport options.
    public var options: TransportOptions {
        @inlinable get { shared.value.options }
        set { change { $0.options = newValue } }
    }

    // Parts of the URL, read without a copy of the whole.

    /// The URL's host.
    package var host: String? { shared.value.url.host }

    /// Whether the URL is absolute, with scheme http or https.
    package var isAbsoluteHTTP: Bool { shared.value.url.isAbsoluteHTTP }

    /// Whether the URL's scheme is https.
    package var isSecure: Bool { shared.value.url.isHTTPS }

    /// Throws ``RequestError/Code/invalidURL`` if no request can be sent to the URL.
    package func checkURL() throws(RequestError) {
        guard !shared.has(.isCorrect), let problem = shared.value.url.problem else { return }
        throw RequestError(.invalidURL, stage: .build, problem)
    }

    /// Throws ``RequestError/Code/invalidHeader`` if the server would receive credentials for a proxy.
    package func checkHeaders() throws(RequestError) {
        if shared.value.headers.contains(.proxyAuthorization) { throw Self.hasProxyAuthorization }
    }

    /// The error for a request with a header Proxy-Authorization.
    package static var hasProxyAuthorization: RequestError {
        RequestError(
            .invalidHeader, stage: .build, "The request has a \(proxyAuthorizationProblem).")
    }

    /// The words of an error message after "has a".
    package static let proxyAuthorizationProblem =
        "header Proxy-Authorization, which the server would receive instead of the proxy. "
        + "Remove it, and set user and password in the proxy's URL: http://user:password@host:port"

    /// Whether the request has a field `Connection`.
    package var hasConnectionField: Bool {
        if shared.has(.hasNoConnectionField) { return false }
        let isContained = shared.value.headers.contains(.connection)
        if !isContained { shared.note(.hasNoConnectionField) }
        return isContained
    }

    /// The head that a transport has written, for the next time that it is written; `nil` before the second time.
    package var writtenHead: Shared<[UInt8]>? { shared.writtenHead.load() }

    /// Keeps the head that a transport has written, from the second time on: most changed requests are sent once.
    package func keep(writtenHead bytes: UnsafeRawBufferPointer) {
        if shared.has(.headWasWritten) {
            _ = shared.writtenHead.storeIfNil(Shared(Array(bytes)))
        } else {
            shared.note(.headWasWritten)
        }
    }

    /// The request without its body.
    package var withoutBody: TransportRequest {
        guard shared.value.body != nil else { return self }
        var request = self
        request.body = nil
        return request
    }

    @usableFromInline
    struct Fields: Sendable {
        @usableFromInline var method: HTTPMethod
        @usableFromInline var url: HTTPURL
        @usableFromInline var headers: HTTPFields
        @usableFromInline var body: HTTPBody?
        @usableFromInline var timeouts: Timeouts
        @usableFromInline var options: TransportOptions
    }

    /// A fact of a request, which is found out when it is sent first: an endpoint's is often built once and sent again.
    enum Fact: UInt8 {
        /// The request has none of the mistakes of ``TransportRequest/checkForMistakes()``, whatever the time.
        case isCorrect = 1
        case hasNoConnectionField = 2
        /// The head was written before, without a body and in origin form.
        case headWasWritten = 4
    }

    @usableFromInline
    final class Storage: Sendable {
        @usableFromInline let value: Fields
        private let facts = Atomic<UInt8>(0)
        let writtenHead = LazyReference<Shared<[UInt8]>>()

        init(_ value: Fields) { self.value = value }

        func has(_ fact: Fact) -> Bool { facts.load(ordering: .relaxed) & fact.rawValue != 0 }
        func note(_ fact: Fact) { facts.bitwiseOr(fact.rawValue, ordering: .relaxed) }
    }

    // One reference, because a request is held by many suspended steps and a transfer (decision 10).
    @usableFromInline var shared: Storage

    private mutating func change(_ change: (inout Fields) -> Void) {
        var value = shared.value
        change(&value)
        shared = Storage(value)
    }

    /// The reference that the request is, for a response.
    package var storage: any AnyObject & Sendable { shared }

    /// The request with the storage of another; `nil` for another object.
    init?(storage: any AnyObject & Sendable) {
        guard let shared = storage as? Storage else { return nil }
        self.shared = shared
    }

    /// Creates a request for a transport.
    public init(
        method: HTTPMethod = .get, url: HTTPURL, headers: HTTPFields = [:], body: HTTPBody? = nil,
        timeouts: Timeouts = Timeouts(), options: TransportOptions = TransportOptions()
    ) {
        shared = Storage(
            Fields(
                method: method, url: url, headers: headers, body: body, timeouts: timeouts,
                options: options))
    }
}

extension TransportRequest: CustomStringConvertible, CustomReflectable {
    /// The parts of the request, without its body, its query and secret headers.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method.rawValue, "url": url.redacted,
                "headers": headers.redacted(options.secretNames),
                "hasBody": body != nil, "trailers": body?.trailerNames ?? [],
                "timeouts": timeouts, "options": options,
            ])
    }

    /// The method and the URL without its query; ``curlCommand(redactsSecrets:)`` contains more.
    public var description: String { "\(method) \(url.redacted)" }
}

extension Response {
    /// The request that the server responded to, without its body; `nil` for a response from the store.
    ///
    /// The last one, after retries, redirects, request processors and authenticators, with cookies and credentials. The
    /// transport adds the fields that ``TransportRequest/headers`` names. See also `RequestTask.sentRequest`.
    public var sentRequest: TransportRequest? {
        requestStorage.flatMap { TransportRequest(storage: $0) }
    }
}
