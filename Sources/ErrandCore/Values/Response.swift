public import ErrandJSON
public import Foundation
public import HTTPTypes
import Synchronization

/// A complete answer: from the network or from the store, it is the same value.
public struct Response: Sendable {
    /// The status, such as 200.
    ///
    /// Comparable with a literal: `response.status == 404`.
    public var status: HTTPResponse.Status {
        get { shared.value.status }
        set { change { $0.status = newValue } }
    }
    /// The headers in the order they came, names compared without regard to case.
    public var headers: HTTPFields {
        get { shared.value.headers }
        set { change { $0.headers = newValue } }
    }
    /// The body: bytes in memory, or a file for a download.
    public var body: Body {
        get { shared.value.body }
        set {
            change {
                $0.body = newValue; $0.lazyJSON = LazyJSON()
            }
        }
    }
    /// The address that answered, after redirects.
    ///
    /// Behind a redirect it has the fragment of the `Location`, or else the one that was asked for; fragments are
    /// never sent, and answers from the store have none.
    public var url: URI {
        get { shared.value.url }
        set { change { $0.url = newValue } }
    }
    /// Where the answer comes from.
    public var source: Source {
        get { shared.value.source }
        set { change { $0.source = newValue } }
    }
    /// How many attempts it took; 0 from the cache.
    public var attempts: Int {
        get { shared.value.attempts }
        set { change { $0.attempts = newValue } }
    }
    /// How long each phase took: an element for each request that went out, attempts that failed, redirects that were
    /// followed and renewals included; the last is this answer's.
    public var timings: [AttemptTimings] {
        get { shared.value.timings }
        set { change { $0.timings = newValue } }
    }
    /// The HTTP version spoken; `nil` where the transport cannot tell.
    public var httpVersion: HTTPVersion? {
        get { shared.value.httpVersion }
        set { change { $0.httpVersion = newValue } }
    }
    /// The peer's address as `IP:port`; `nil` where the transport cannot tell.
    public var remoteAddress: String? {
        get { shared.value.remoteAddress }
        set { change { $0.remoteAddress = newValue } }
    }
    /// Header fields behind the body (RFC 9110 §6.5).
    public var trailers: HTTPFields {
        get { shared.value.trailers }
        set { change { $0.trailers = newValue } }
    }

    private struct Fields: Sendable {
        var status: HTTPResponse.Status
        var headers: HTTPFields
        var body: Body
        var url: URI
        var source: Source
        var attempts: Int
        var timings: [AttemptTimings]
        var httpVersion: HTTPVersion?
        var remoteAddress: String?
        var trailers: HTTPFields
        var lazyJSON = LazyJSON()
        var removesNulls = false
    }

    private var shared: Shared<Fields>

    private mutating func change(_ change: (inout Fields) -> Void) {
        shared = shared.changed(change)
    }

    /// Makes an answer, as a scripted transport or a store does.
    public init(
        status: HTTPResponse.Status, headers: HTTPFields = [:], body: Body = .data(Data()),
        url: URI, source: Source = .network, attempts: Int = 1, timings: [AttemptTimings] = [],
        httpVersion: HTTPVersion? = nil, remoteAddress: String? = nil, trailers: HTTPFields = [:]
    ) {
        shared = Shared(
            Fields(
                status: status, headers: headers, body: body, url: url, source: source,
                attempts: attempts, timings: timings, httpVersion: httpVersion,
                remoteAddress: remoteAddress, trailers: trailers))
    }

    /// What the body is kept in.
    public enum Body: Sendable, Hashable {
        /// Bytes in memory.
        case data(Data)
        /// A finished file.
        case file(URL)
    }

    /// Where an answer comes from (row CAC-13).
    public enum Source: String, Sendable, Hashable {
        /// From the server, just now.
        case network
        /// From the store and within its time.
        case cacheFresh
        /// From the store and out of date; a policy allowed it.
        case cacheStale
        /// From the store, after the server said that it is still valid (304).
        case revalidated
    }

    /// Whether nothing but the store was asked.
    public var isFromCache: Bool { source == .cacheFresh || source == .cacheStale }

    /// The status as a number.
    public var statusCode: Int { status.code }

    /// The body's bytes.
    ///
    /// A download's file is read; empty when that fails.
    public var data: Data {
        switch body {
        case .data(let data): data
        case .file(let url): (try? Data(contentsOf: url, options: .mappedIfSafe)) ?? Data()
        }
    }

    /// The file of a download, else `nil`.
    public var file: URL? {
        if case .file(let url) = body { url } else { nil }
    }

    /// The body as JSON; a value that `exists` not when the body is empty or no JSON.
    ///
    /// Parsed at the first use and kept.
    public var json: JSON { (try? parsedJSON()) ?? .absent }

    /// The body as JSON, or why it is none.
    public func parsedJSON() throws(JSONError) -> JSON {
        try shared.value.lazyJSON.value(of: data, removesNulls: shared.value.removesNulls).get()
    }

    /// From here on the body's JSON is without members and items that are null (row RSP-8).
    mutating func removeNulls() {
        change {
            $0.removesNulls = true
            $0.lazyJSON = LazyJSON(removingNullsOf: $0.lazyJSON)
        }
    }
}

/// JSON that is parsed when somebody asks, once for all copies of a response.
private final class LazyJSON: Sendable {
    private let state = Mutex<Result<JSON, JSONError>?>(nil)
    /// The same with its nulls, parsed perhaps already.
    private let original: LazyJSON?

    init(removingNullsOf original: LazyJSON? = nil) { self.original = original }

    func value(
        of data: @autoclosure () -> Data, removesNulls: Bool
    ) -> Result<JSON, JSONError> {
        state.withLock { state in
            if let state { return state }
            var result: Result<JSON, JSONError>
            if let original {
                result = original.value(of: data(), removesNulls: false)
            } else {
                let bytes = data()
                result = Result { () throws(JSONError) in try JSON(parsing: bytes) }
            }
            if removesNulls { result = result.map(\.removingNulls) }
            state = result
            return result
        }
    }
}
