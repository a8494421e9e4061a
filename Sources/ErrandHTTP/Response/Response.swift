public import ErrandJSON
public import ErrandSystem
public import HTTPTypes
import Synchronization

/// An HTTP response, from the network or from the response store.
public struct Response: Sendable {
    /// The status code, such as 200.
    ///
    /// It can be compared with a literal: `response.status == 404`.
    public var status: HTTPResponse.Status {
        get { shared.value.status }
        set { change { $0.status = newValue } }
    }
    /// The header fields in the order of arrival; names compare case-insensitively.
    public var headers: HTTPFields {
        get { shared.value.headers }
        set { change { $0.headers = newValue } }
    }
    /// The body: bytes in memory, or the file of a download.
    ///
    /// Empty if ``isStreamed``.
    public var body: Body {
        get { shared.value.body }
        set {
            change {
                $0.body = newValue
                ($0.isStreamed, $0.stream, $0.isCut) = (false, nil, false)
            } json: { _ in
                nil
            }
        }
    }
    /// Whether this is the head of a response whose body is read while it arrives.
    ///
    /// True for the responses of streamed requests; ``body`` is then empty. An assignment to ``body`` replaces the
    /// stream.
    public var isStreamed: Bool { shared.value.isStreamed }
    /// The URL of the response, after redirects.
    ///
    /// After a redirect it has the fragment of `Location`, otherwise the fragment of the request's URL (RFC 9110
    /// §10.2.2). A fragment is never sent, and responses from the store have none.
    public var url: HTTPURL {
        get { shared.value.url }
        set { change { $0.url = newValue } }
    }
    /// The source of the response: the network or the store.
    public var source: Source {
        get { shared.value.source }
        set { change { $0.source = newValue } }
    }
    /// The number of attempts; 0 for a response from the cache.
    public var attempts: Int {
        get { shared.value.attempts }
        set { change { $0.attempts = newValue } }
    }
    /// The timings of every request that was sent: failed attempts, redirects and credential refreshes included.
    ///
    /// The last element belongs to this response.
    public var timings: [AttemptTimings] {
        get {
            guard let own = shared.value.ownTimings else { return shared.value.timings }
            return shared.value.timings + [own]
        }
        set { change { ($0.timings, $0.ownTimings) = (newValue, nil) } }
    }
    /// The last element of ``timings``.
    package var lastTimings: AttemptTimings? {
        shared.value.ownTimings ?? shared.value.timings.last
    }
    /// The HTTP version; `nil` if the transport does not report it.
    public var httpVersion: HTTPVersion? {
        get { shared.value.httpVersion }
        set { change { $0.httpVersion = newValue } }
    }
    /// The peer's address as `IP:port`; `nil` if the transport does not report it.
    public var remoteAddress: String? {
        get { shared.value.remoteAddress }
        set { change { $0.remoteAddress = newValue } }
    }
    /// The trailer fields, which follow the body (RFC 9110 §6.5).
    public var trailers: HTTPFields {
        get { shared.value.trailers }
        set { change { $0.trailers = newValue } }
    }

    /// The storage of ``sentRequest``, whose type belongs to another folder.
    var requestStorage: (any AnyObject & Sendable)? { shared.value.requestStorage }

    /// The time since the origin server generated the response, or confirmed it.
    ///
    /// For a response from the store, its age at the moment of its use: with cache time and version the time since it
    /// was stored, with ``CachePolicy/http`` the age of RFC 9111 §4.2.3. For a response from the network, and for one
    /// that a 304 has confirmed, the field `Age` of a cache on the way; zero without one. `Date` is not used for these,
    /// because the clocks of server and client may differ.
    public var age: Duration { shared.value.age ?? headers.age }
    /// The error of the network, if a stored response is the result because of it; otherwise `nil`.
    ///
    /// With ``CachePolicy/cacheThenLoad`` and ``CachePolicy/loadElseCache``, and with `stale-if-error` under
    /// ``CachePolicy/http``, if the network has failed.
    public var loadError: RequestError? { shared.value.loadError }

    /// The codings that the body had before it was decoded; `nil` if it was not decoded.
    package var decodedCoding: String? { shared.value.decodedCoding }

    /// Removes the header fields that describe the encoded bytes of a body that is decoded now.
    ///
    package mutating func markDecoded() {
        let coding = headers[.contentEncoding] ?? ""
        change {
            $0.decodedCoding = coding
            $0.headers[.contentEncoding] = nil
            $0.headers[.contentLength] = nil
        }
    }

    /// Whether ``body`` is the beginning of a longer body, whose rest was not received.
    package var isCut: Bool { shared.value.isCut }

    /// Marks the body as the beginning of a longer one.
    package mutating func markCut() { change { $0.isCut = true } }

    /// The stored response that is the result after an error of the network.
    package func used(after error: RequestError?) -> Response {
        guard let error else { return self }
        var response = self
        response.change { $0.loadError = error }
        return response
    }

    private struct Fields: Sendable {
        var status: HTTPResponse.Status
        var headers: HTTPFields
        var body: Body
        var url: HTTPURL
        var source: Source
        var attempts: Int
        var timings: [AttemptTimings]
        /// The last element of the timings, if it is not part of the array: one attempt needs no array.
        var ownTimings: AttemptTimings?
        var httpVersion: HTTPVersion?
        var remoteAddress: String?
        var trailers: HTTPFields
        var removesNulls = false
        var decoder: Shared<JSONReader>?
        var isStreamed = false
        var isCut = false
        var stream: (any ResponseStreamBody)?
        /// The storage of the request, without its body.
        var requestStorage: (any AnyObject & Sendable)?
        /// The `Content-Encoding` that the body had before it was decoded.
        var decodedCoding: String?
        /// The age of a stored response.
        var age: Duration?
        var loadError: RequestError?
        /// The finished file of a download; in a box, because there is rarely one.
        var downloaded: Shared<DownloadedFile>?
    }

    private final class Storage: Sendable {
        let value: Fields
        /// The JSON of the body, made when it is used first or when the response is changed.
        private let json = LazyReference<LazyJSON>()

        init(_ value: Fields, json: LazyJSON? = nil) {
            self.value = value
            if let json { _ = self.json.storeIfNil(json) }
        }

        var lazyJSON: LazyJSON { json.load() ?? json.storeIfNil(LazyJSON()) }
    }

    private var shared: Storage

    private mutating func change(
        _ change: (inout Fields) -> Void, json: (Storage) -> LazyJSON? = \.lazyJSON
    ) {
        var value = shared.value
        change(&value)
        shared = Storage(value, json: json(shared))
    }

    /// Creates a response, for example in a custom transport or store.
    public init(
        status: HTTPResponse.Status, headers: HTTPFields = [:], body: Body = .data(Data()),
        url: HTTPURL, source: Source = .network, attempts: Int = 1, timings: [AttemptTimings] = [],
        httpVersion: HTTPVersion? = nil, remoteAddress: String? = nil, trailers: HTTPFields = [:]
    ) {
        shared = Storage(
            Fields(
                status: status, headers: headers, body: body, url: url, source: source,
                attempts: attempts, timings: timings, httpVersion: httpVersion,
                remoteAddress: remoteAddress, trailers: trailers))
    }

    /// Creates the response of a stored entry, whose body may have been decoded before it was stored.
    package init(
        storedStatus status: HTTPResponse.Status, headers: HTTPFields, body: Body, url: HTTPURL,
        source: Source, age: Duration?, decodedCoding: String?
    ) {
        shared = Storage(
            Fields(
                status: status, headers: headers, body: body, url: url, source: source,
                attempts: 0, timings: [], trailers: HTTPFields(), decodedCoding: decodedCoding,
                age: age))
    }

    /// Creates the response of a transfer.
    package init(
        status: HTTPResponse.Status, headers: HTTPFields, body: Body, url: HTTPURL, attempts: Int,
        ownTimings: AttemptTimings, httpVersion: HTTPVersion?, remoteAddress: String?,
        trailers: HTTPFields, requestStorage: (any AnyObject & Sendable)?
    ) {
        shared = Storage(
            Fields(
                status: status, headers: headers, body: body, url: url, source: .network,
                attempts: attempts, timings: [], ownTimings: ownTimings, httpVersion: httpVersion,
                remoteAddress: remoteAddress, trailers: trailers,
                requestStorage: requestStorage))
    }

    /// The form of a response body.
    public enum Body: Sendable, Hashable {
        /// Bytes in memory.
        case data(Data)
        /// The file of a finished download.
        case file(URL)
    }

    /// The source of a response.
    public enum Source: String, Sendable, Hashable {
        /// The server, for this request.
        case network
        /// The store; the response is fresh.
        case cacheFresh
        /// The store; the response is stale and a policy allows its use, or the network failed, whatever the age.
        case cacheStale
        /// The store, after the server confirmed with 304 that the response is still valid.
        case revalidated
    }

    /// Whether the response comes from the store without revalidation.
    public var isFromCache: Bool { source == .cacheFresh || source == .cacheStale }

    /// The status code as a number.
    public var statusCode: Int { shared.value.status.code }

    /// The bytes of the body.
    ///
    /// For a download, the contents of its file; empty if the file cannot be read.
    public var data: Data {
        switch body {
        case .data(let data): data
        case .file(let url): (try? FileAccess.contents(of: url)) ?? Data()
        }
    }

    /// The file of a download; `nil` for a body in memory.
    public var file: URL? {
        if case .file(let url) = body { url } else { nil }
    }

    /// The file of a download with its size, digests and origin; `nil` for a body in memory.
    ///
    /// If a processor or `errorRecovery` has replaced the file, size and name are those of the new file.
    public var downloadedFile: DownloadedFile? {
        guard let file else { return nil }
        if let downloaded = shared.value.downloaded?.value, downloaded.file == file {
            return downloaded
        }
        return DownloadedFile(
            file: file, bytes: FileAccess.size(of: file) ?? 0,
            contentType: headers[.contentType], suggestedName: suggestedFilename)
    }

    /// Makes the finished file of a download the body.
    package mutating func setDownloadedFile(_ downloaded: DownloadedFile) {
        body = .file(downloaded.file)
        change { $0.downloaded = Shared(downloaded) }
    }

    /// The body as JSON; an absent value if the body is empty or not valid JSON.
    ///
    /// Parsed at the first use and cached.
    public var json: JSON { (try? parsedJSON()) ?? .absent }

    /// The body as JSON.
    ///
    /// - Throws: `JSONError` if the body is not valid JSON.
    public func parsedJSON() throws(JSONError) -> JSON {
        try shared.lazyJSON.value(of: data, removesNulls: shared.value.removesNulls).get()
    }

    /// Whether there is no body; a single space counts as none, because some servers send that.
    package var hasEmptyBody: Bool {
        guard case .data(let data) = body else { return false }
        return data.isEmpty || (data.count == 1 && data.first == 0x20)
    }

    /// The stream of the body; `nil` for a complete body, and after ``withoutStream()``.
    package var stream: (any ResponseStreamBody)? { shared.value.stream }

    /// The head of a response whose body is read from the stream.
    package func streamed(_ stream: any ResponseStreamBody) -> Response {
        var response = self
        response.change { ($0.isStreamed, $0.stream) = (true, stream) }
        return response
    }

    /// The response without its reference to the stream, which it would keep open.
    package func withoutStream() -> Response {
        guard stream != nil else { return self }
        var response = self
        response.change { $0.stream = nil }
        return response
    }

    /// The decoder of ``decode(_:decoder:)``; `nil` has no strategies.
    package var decoder: Shared<JSONReader>? { shared.value.decoder }

    /// Sets the decoder of ``decode(_:decoder:)`` unless it is this one already.
    package mutating func use(_ decoder: Shared<JSONReader>) {
        if shared.value.decoder !== decoder { change { $0.decoder = decoder } }
    }

    /// The response with this decoder, or without one.
    package func using(_ decoder: Shared<JSONReader>?) -> Response {
        var response = self
        response.change { $0.decoder = decoder }
        return response
    }

    /// Removes null members and items from the body's JSON.
    package mutating func removeNulls() {
        change {
            $0.removesNulls = true
        } json: {
            LazyJSON(removingNullsOf: $0.lazyJSON)
        }
    }
}

/// The body of a response that is read while it arrives; cancels its transfer when it is released.
package protocol ResponseStreamBody: AnyObject, Sendable {}

/// JSON that is parsed at the first use, once for all copies of a response, also for those that are changed later.
private final class LazyJSON: Sendable {
    private enum State {
        case unparsed
        case parsed(JSON)
        case failed(JSONError)
    }

    private let state = Mutex(State.unparsed)
    /// The JSON with its nulls, which may already be parsed.
    private let original: LazyJSON?

    init(removingNullsOf original: LazyJSON? = nil) { self.original = original }

    func value(
        of data: @autoclosure () -> Data, removesNulls: Bool
    ) -> Result<JSON, JSONError> {
        state.withLock { state in
            switch state {
            case .unparsed: break
            case .parsed(let json): return .success(json)
            case .failed(let error): return .failure(error)
            }
            var result: Result<JSON, JSONError>
            if let original {
                result = original.value(of: data(), removesNulls: false)
            } else {
                let bytes = data()
                result = Result { () throws(JSONError) in try JSON(parsing: bytes) }
            }
            if removesNulls { result = result.map(\.removingNulls) }
            switch result {
            case .success(let json): state = .parsed(json)
            case .failure(let error): state = .failed(error)
            }
            return result
        }
    }
}

extension HTTPFields {
    /// The field `Age`: the first member of a list of seconds; zero if it is missing or invalid (RFC 9111 §5.1).
    fileprivate var age: Duration {
        guard contains(.age), let field = self[values: .age].first,
            let member = ListElements(field).first(where: { _ in true }),
            !member.isEmpty, member.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return .zero }
        return .seconds(Swift.min(Int(member) ?? .max, 2_147_483_648))
    }
}

extension Response: CustomStringConvertible {
    /// The status, the source and the URL without its query.
    public var description: String { "\(statusCode) (\(source.rawValue)) from \(url.redacted)" }
}
