import Dispatch

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The base class of endpoints.
///
/// Subclass it, override what differs from the defaults, and start an instance.
///
///     final class Register: BaseRequest {
///         let username: String
///         init(username: String) { self.username = username }
///         override var url: EndpointURL { "/iphone/register" }
///         override var method: HTTPMethod { .post }
///         override var arguments: Arguments? { ["username": username] }
///     }
///     Register(username: "a").start { request in … } failure: { request, error in … }
///
/// A request stays with the actor that created it; only its description, a value, crosses to the agent. Overrides
/// are read once per start, by ``describe()``, on the caller's side: keep them cheap and free of side effects. A
/// request may be started again, also in its own callback; each start is a ``RequestTask`` of its own. See
/// <doc:GettingStarted>.
///
/// The class is `nonisolated` so that subclasses need no annotations in any language mode.
nonisolated open class BaseRequest: RequestUnit, Startable {
    /// Creates a request.
    public override init() { super.init() }

    // MARK: - URL

    /// The path below the base URL, or an absolute URL, which ignores every base.
    ///
    ///     override var url: EndpointURL { "users/\(id)" }
    ///
    /// A value is percent-encoded, so that it is one segment, or one value of the query. One slash at the start is
    /// optional. Default empty: the base URL as it is written; a query alone, such as `"?page=2"`, is appended to it. A
    /// query is kept, after that of the base; arguments are appended to it. Characters of the literal that a URL cannot
    /// contain are percent-encoded, escapes are kept, and a host beyond ASCII becomes `xn--…`.
    /// ``Configuration/urlFilters`` change it. Errors: ``RequestError/Code/invalidURL``, also for a value that would
    /// lead to another endpoint; ``RequestError/Code/noBaseURL``. See <doc:URLs>.
    open var url: EndpointURL { "" }
    /// The base URL of this endpoint.
    ///
    /// Default `nil`, like an empty string: the environment's, otherwise ``Configuration/baseURL``. With ``usesCDN``,
    /// a CDN URL takes precedence.
    open var baseURL: EndpointURL? { nil }
    /// The CDN URL of this endpoint, for ``usesCDN``.
    ///
    /// Default `nil`: ``Configuration/cdnURL``, or that of the environment.
    open var cdnURL: EndpointURL? { nil }
    /// Whether the CDN URL is the base URL.
    ///
    /// Default false. Without a CDN URL the base URL is used.
    open var usesCDN: Bool { false }
    /// The version of the API, such as `v5`.
    ///
    /// Default `nil`: ``Configuration/apiVersion``; empty text means none. A segment between base and path. An absolute
    /// ``url`` gets none.
    open var apiVersion: String? { nil }

    // MARK: - Method, arguments, body and headers

    /// The method: any token, such as `"PURGE"`; letter case matters.
    ///
    /// Default ``HTTPMethod/get``. Errors: ``RequestError/Code/invalidMethod`` if it is not a token (RFC 9110
    /// §5.6.2), ``RequestError/Code/unsupported`` for CONNECT, ``RequestError/Code/invalidCombination`` for HEAD or
    /// TRACE with a body.
    open var method: HTTPMethod { .get }
    /// The names and values of the request, in order; names may repeat.
    ///
    /// Default `nil`. Shared arguments (``Configuration/sharedArguments``, `argumentProvider`, `hostArguments`) are
    /// added before them. These take precedence over shared ones of the same name, except ``Configuration/fixedArgumentNames``.
    /// Errors: ``RequestError/Code/invalidArguments``, without the value. See <doc:ArgumentsAndBodies>.
    open var arguments: Arguments? { nil }
    /// Whether arguments go into the query or the body.
    ///
    /// Default ``ArgumentPlacement/automatic``: the query for GET, HEAD and DELETE and beside a ``body`` that is not
    /// multipart, otherwise the body. Errors: ``RequestError/Code/invalidCombination`` for arguments that are placed
    /// into such a body.
    open var argumentPlacement: ArgumentPlacement { .automatic }
    /// The format of a body made from arguments.
    ///
    /// Default ``RequestSerializer/form``, which sends an empty body for POST, PUT and PATCH without arguments;
    /// JSON and property lists then send none. In the query, arguments are always written as a form.
    open var requestSerializer: RequestSerializer { .form }
    /// The rules by which arguments are written in query, form and JSON.
    ///
    /// Default `nil`: ``Configuration/argumentEncoding``.
    open var argumentEncoding: ArgumentEncoding? { nil }
    /// A body in place of one made from arguments: a value as JSON, bytes, text, a file, a stream, or parts.
    ///
    /// Default `nil`. Errors: ``RequestError/Code/invalidBody`` for a value that cannot be encoded and for a missing
    /// file, ``RequestError/Code/invalidCombination`` with HEAD and TRACE and for parts with GET,
    /// ``RequestError/Code/bodyNotReplayable`` for a redirect that needs a consumed stream again. See
    /// <doc:ArgumentsAndBodies>.
    open var body: HTTPBody? { nil }
    /// Key, date, data and float strategies for `HTTPBody.json(_:encoder:)` and ``Arguments/init(encoding:encoder:)``.
    ///
    /// Default `nil`: ``Configuration/jsonEncoder``. An encoder given to the body or the arguments takes precedence.
    open var jsonEncoder: FastJSONEncoder? { nil }
    /// Compresses the body: `.gzip`, `.deflate`, or a ``BodyEncoder`` of your own.
    ///
    /// Default `nil`: ``Configuration/bodyEncoder``, which has none and ignores files and streams. Request processors
    /// see the compressed bytes. Errors: ``RequestError/Code/unsupported`` for a body not in memory, or without zlib.
    open var bodyEncoder: (any BodyEncoder)? { nil }
    /// The headers of this request.
    ///
    /// Default none. They take precedence over shared headers (``Configuration/sharedHeaders``, `headerProvider`,
    /// `hostHeaders`), except ``Configuration/fixedHeaderNames``. `Host`, `Content-Length` and `Transfer-Encoding`
    /// belong to the transport. A `Content-Type` replaces that of the body; the boundary of a multipart body is added.
    /// A download sends its own `Accept-Encoding`. Errors: ``RequestError/Code/invalidHeader``, also for a
    /// `Content-Type` that a multipart body cannot have; ``RequestError/Code/invalidCombination`` for `Range` and
    /// `If-Range` of a download.
    open var headers: HTTPFields { HTTPFields() }
    /// Headers as text whose names and values are not known to be valid, in order; they replace ``headers`` of the
    /// same name.
    ///
    /// Default none. Names may repeat. Errors: ``RequestError/Code/invalidHeader`` for a name that is not a token, or
    /// a value with control characters; the message does not contain the value.
    open var headerFieldValues: HeaderPairs { HeaderPairs() }
    /// Credentials that are sent with the first attempt.
    ///
    /// Default `nil`. They are not sent to another origin after a redirect. ``Configuration/authenticators`` provide
    /// credentials by host. Errors: ``RequestError/Code/invalidCombination`` with an `Authorization` header.
    open var authorization: Authorization? { nil }
    /// Whether the configuration's headers are added, including those of hosts and of the provider.
    ///
    /// Default true.
    open var usesSharedHeaders: Bool { true }
    /// Whether the configuration's arguments are added, including those of hosts and of the provider.
    ///
    /// Default true.
    open var usesSharedArguments: Bool { true }
    /// A complete request in place of URL, method, arguments, headers and body.
    ///
    /// Default `nil`. ``authorization``, validation, hooks, cache, retries and progress apply; shared headers and
    /// arguments do not. Its `timeoutInterval`, unless it is Foundation's 60 seconds, is the idle limit if
    /// ``timeouts`` is `nil`. The cache policies that ignore stored data, and `httpShouldHandleCookies`, apply. A body
    /// stream is read up to 256 MiB when the request starts. Errors: ``RequestError/Code/invalidCombination`` beside
    /// an override that it replaces, and for other cache policies; ``RequestError/Code/unsupported`` for
    /// `networkServiceType`; ``RequestError/Code/bodyReadFailed`` for a stream that cannot be read, is too large, or was
    /// read before: return a new stream from each call.
    open func customURLRequest() -> URLRequest? { nil }

    // MARK: - Sending

    /// The time limits: connect, idle (the longest silence) and total.
    ///
    /// Default `nil`: ``Configuration/timeouts``, which is 30 s, 60 s and no limit. Errors:
    /// ``RequestError/Code/timedOut``, ``RequestError/Code/invalidConfiguration`` for a limit of zero or less.
    open var timeouts: Timeouts? { nil }
    /// The priority among waiting requests; ``RequestTask/priority`` changes it while the request waits.
    ///
    /// Default ``RequestPriority/normal``. It has an effect if ``Configuration/limits`` make requests wait.
    open var priority: RequestPriority { .normal }
    /// Whether a cellular connection may be used: Apple platforms only.
    ///
    /// Default true. ``TransportOptions/allowsCellularAccess`` must allow it as well.
    open var allowsCellularAccess: Bool { true }
    /// How failed attempts are retried.
    ///
    /// Default `nil`: ``Configuration/retryPolicy``, which makes one attempt. See <doc:RetriesAndLimits>.
    open var retryPolicy: RetryPolicy? { nil }
    /// Decides about a failed attempt before ``Configuration/retryDecider`` and the policy do.
    ///
    /// Default `nil`. Called off the main actor; it must be fast.
    open var retryDecider: RetryDecider? { nil }
    /// What happens when an identical request is in progress.
    ///
    /// Default ``DuplicatePolicy/allow``: both are sent. Errors: ``RequestError/Code/duplicate`` with
    /// ``DuplicatePolicy/reject``. <doc:RetriesAndLimits> defines identical requests.
    open var duplicatePolicy: DuplicatePolicy { .allow }
    /// Which redirects are followed.
    ///
    /// Default `nil`: ``Configuration/redirectPolicy``, which follows 20, none from https to http. Errors:
    /// ``RequestError/Code/tooManyRedirects``, ``RequestError/Code/unsafeRedirect``,
    /// ``RequestError/Code/bodyNotReplayable``.
    open var redirectPolicy: RedirectPolicy? { nil }
    /// Trust over TLS: authorities, pins and client certificates.
    ///
    /// Default `nil`: `security` of ``Configuration/transportOptions``, otherwise the system's trust. Errors:
    /// ``RequestError/Code/unsupported`` if the transport cannot do it. See <doc:Security>.
    open var securityPolicy: SecurityPolicy? { nil }
    /// Transport options of this endpoint: HTTP version, decoding, limits of size, proxy, address family.
    ///
    /// Default `nil`: ``Configuration/transportOptions``. A response that is not decoded has a cache entry of its
    /// own. Errors: ``RequestError/Code/unsupported`` if the transport cannot do it, and in an outbox.
    open var transportOverrides: TransportOverrides? { nil }
    /// Whether cookies are sent and stored.
    ///
    /// Default true. ``Configuration/usesCookies`` must allow it as well.
    open var usesCookies: Bool { true }
    /// Whether ``Configuration/authenticators`` add credentials and refresh them after a 401.
    ///
    /// Default true. Set false in the requests by which an authenticator gets or refreshes credentials:
    /// otherwise they can wait for themselves. See <doc:CredentialsAndRedirects>.
    open var usesAuthenticators: Bool { true }
    /// What happens while there is no network.
    ///
    /// Default `nil`: ``Configuration/connectivityPolicy``, which sends anyway. Errors: ``RequestError/Code/offline``;
    /// ``RequestError/Code/invalidConfiguration`` without ``Configuration/reachability``.
    open var connectivityPolicy: ConnectivityPolicy? { nil }
    /// The agent that performs the request; an agent at the call, such as `agent.send(request)`, takes precedence.
    ///
    /// Default ``RequestAgent/shared``. Override it once, in the base class of a service.
    open var agent: RequestAgent { assignedAgent ?? .shared }

    /// Hooks around the whole request, inside those of ``Configuration/interceptors``; the outermost first.
    ///
    /// Default none. They run off the main actor, once per request. See <doc:ChoosingAHook>.
    open var interceptors: [any Interceptor] { [] }
    /// Processors of the final request, run before each attempt, after ``Configuration/requestProcessors``.
    ///
    /// Default none. Errors: ``RequestError/Code/adaptationFailed`` with the thrown error underlying.
    open var requestProcessors: [any RequestProcessor] { [] }

    // MARK: - Response

    /// The expected format of the response body.
    ///
    /// Default ``ResponseSerializer/json``. An empty body is accepted for every format. No effect on a download, whose
    /// body is not parsed. Errors: ``RequestError/Code/undecodable``.
    open var responseSerializer: ResponseSerializer { .json }
    /// The statuses that are a success.
    ///
    /// Default `200..<300`. Errors: ``RequestError/Code/unacceptableStatus``;
    /// ``RequestError/Code/invalidValidator`` for an empty range.
    open var acceptableStatusCodes: Range<Int> { 200..<300 }
    /// The statuses that are a success, as a set or a rule.
    ///
    /// Default `nil`: ``acceptableStatusCodes``.
    open var statusCodeValidator: StatusCodeValidator? { nil }
    /// The content types that are a success.
    ///
    /// Default ``AcceptableContentTypes/automatic``: ``Configuration/acceptableContentTypes``, otherwise those of
    /// ``responseSerializer``; for a download every type. A response without a content type or a body passes. Errors:
    /// ``RequestError/Code/unacceptableContentType``.
    open var acceptableContentTypes: AcceptableContentTypes { .automatic }
    /// The shape that the JSON of the response must have, from the network and from the store.
    ///
    /// Default `nil`: any. Errors: ``RequestError/Code/shapeMismatch`` with ``RequestError/shapeFault``;
    /// ``RequestError/Code/invalidValidator`` for a shape that can never match;
    /// ``RequestError/Code/invalidCombination`` for a download, and for a ``responseSerializer`` without JSON. See
    /// <doc:Validation>.
    open var validator: JSONShape? { nil }
    /// The rules of the service, checked after all other validation: accept, reject with an error, or drop.
    ///
    /// Default `nil`. ``Configuration/businessValidators`` run before it. Stored responses are checked as well.
    /// Errors: ``RequestError/Code/rejected`` with your error underlying, ``RequestError/Code/cancelled`` for a
    /// dropped response.
    open var businessValidator: BusinessValidator? { nil }
    /// Whether null members and items are removed from the JSON, at every level, after validation.
    ///
    /// Default false. ``Response/data`` is not changed, nor is the file of a download.
    open var removesNulls: Bool { false }
    /// Decodes the body of a failed response into ``RequestError/body``.
    ///
    /// Default `nil`: ``Configuration/errorDecoder``, which has none.
    open var errorDecoder: ErrorDecoder? { nil }
    /// Steps after validation, such as decryption: they run off the main actor, also for stored responses.
    ///
    /// Default none. ``Configuration/responseProcessors`` run before them. Errors:
    /// ``RequestError/Code/processingFailed`` with the thrown error underlying; a thrown ``RequestError`` unchanged.
    open var processors: [any ResponseProcessor] { [] }

    // MARK: - Output

    /// Key, date and data strategies, for typed output and ``Response/decode(_:decoder:)``.
    ///
    /// Default `nil`: ``Configuration/jsonDecoder``, which has the defaults of `JSONDecoder`.
    open var jsonDecoder: FastJSONDecoder? { nil }
    /// The keys that lead to the output of a ``DecodableOutput``: `["data"]` for `{"code": 0, "data": {…}}`.
    ///
    /// Default none: the output is the whole body. Check other members, such as a code, in ``businessValidator``.
    /// No effect on a download, nor on a ``TypedRequest/decoder`` of your own.
    open var outputPath: [String] { [] }

    // MARK: - Downloads

    /// What happens if the destination of a ``FileOutput`` exists: replace it, fail, keep it, or find a free name.
    ///
    /// Default ``DownloadPlan/ExistingFile/overwrite``: a complete file replaces it in one step. Errors:
    /// ``RequestError/Code/fileFailed`` with ``DownloadPlan/ExistingFile/fail``. No effect on other endpoints.
    open var existingFile: DownloadPlan.ExistingFile { .overwrite }
    /// Whether the part file of an earlier run is continued, if the server confirms that the file is the same.
    ///
    /// Default true; uses `Range` and `If-Range` (RFC 9110 §13.1.5, §14.2). No effect on other endpoints, on other
    /// methods than GET, and if status 206 is not acceptable.
    open var resumesDownload: Bool { true }
    /// The expected SHA-256 of the file of a ``FileOutput``, 64 hexadecimal digits; another file is deleted.
    ///
    /// Default `nil`: not checked. Errors: ``RequestError/Code/digestMismatch``; ``RequestError/Code/invalidConfiguration``
    /// for text that is not a digest; ``RequestError/Code/invalidCombination`` for an endpoint that is not a download.
    open var sha256: String? { nil }
    /// Further rules of a ``FileOutput``, such as digests and the folder of part files; no effect on other endpoints.
    open var downloadOptions: DownloadPlan.Options { DownloadPlan.Options() }

    // MARK: - Cache

    /// How long a response stays fresh, in seconds.
    ///
    /// Default -1: no caching. 0 accepts only an entry of age 0 and stores nothing. No effect with
    /// ``CachePolicy/http``, and on downloads, which are never stored. See <doc:Caching>.
    open var cacheSeconds: Int { -1 }
    /// The version of stored responses; entries of another version are ignored.
    ///
    /// Default 0. Raise it when the meaning of the response changes. ``Configuration/appVersion`` does so for all
    /// endpoints. No effect on downloads.
    open var cacheVersion: Int { 0 }
    /// How the store is used.
    ///
    /// Default `nil`: ``Configuration/cachePolicy``, which is ``CachePolicy/cacheElseLoad``. No effect on downloads.
    /// Errors: ``RequestError/Code/cacheMiss`` with ``CachePolicy/cacheOnly``, and with `only-if-cached` under
    /// ``CachePolicy/http``; ``RequestError/Code/invalidCombination`` for a download with one that reads the store first.
    open var cachePolicy: CachePolicy? { nil }
    /// The user whose data this is; entries of another identity are not used.
    ///
    /// Default `nil`: ``Configuration/cacheIdentity``, otherwise the credentials. For downloads it only separates
    /// identical requests.
    open var cacheIdentity: String? { nil }
    /// Returns the arguments that are part of the cache key.
    ///
    /// Default: all. Leave out nonces and timestamps. For downloads it only decides which requests are identical.
    open func cacheArguments(_ arguments: Arguments?) -> Arguments? { arguments }
    /// Whether the response is delivered before it is written to the store.
    ///
    /// Default true. ``RequestAgent/flushCache()`` waits for all pending writes. No effect on downloads.
    open var writesCacheAsynchronously: Bool { true }

    /// How long after its lifetime a stored response is used without the network, for ``CachePolicy/cacheOnly``,
    /// ``CachePolicy/cacheThenLoad``, `cachedResponse()`, and `only-if-cached` under ``CachePolicy/http``.
    ///
    /// Default `nil`: zero, and any time with ``CachePolicy/cacheThenLoad``. See <doc:Caching>.
    open var maximumStaleness: Duration? { nil }
    /// Changes the response that is stored, after ``Configuration/responseToStore``; `nil` from the closure stores none.
    ///
    /// Default `nil`: unchanged. Called off the main actor, before ``processors``, for a stream with the head only.
    open var responseToStore: (@Sendable (Response) -> Response?)? { nil }

    // MARK: - Hooks, called on the actor of the request; `super` need not be called

    /// Called before the request is described.
    open func willStart() {}
    /// Called after a success, before the delegate and the closures.
    ///
    /// ``response`` is set, and `output` of a typed endpoint. To change the response, use ``processors``.
    open func didFinish() {}
    /// Called after a failure or a cancellation, before the delegate and the closures.
    ///
    /// ``error`` is set; ``RequestError/isCancellation`` distinguishes the two.
    open func didFail() {}

    // MARK: - Properties

    /// Further values of your choice, in addition to ``Configuration/userInfo`` (default empty).
    public var userInfo: [String: any Sendable] = [:]
    /// Typed values of your choice, which the task and its events have, too (default none).
    public var metadata = RequestMetadata()
    /// Whether the store is not read; the response is stored all the same (default false).
    ///
    /// No effect on downloads.
    @exclusivity(unchecked) public var ignoresCache = false
    /// Called with the progress of every run, from any thread, at most every 100 ms, and with the last value.
    ///
    /// Default `nil`. `onProgress(_:)` calls back on the main actor, ``RequestTask/progress`` is a sequence.
    @exclusivity(unchecked) public var progressHandler: (@Sendable (TransferProgress) -> Void)?

    /// The response of the last run; `nil` before it, and after a failure without a response.
    @exclusivity(unchecked) public internal(set) var response: Response?
    /// The response or the error of the last run; `nil` before it.
    public var result: Result<Response, RequestError>? {
        if let error { return .failure(error) }
        return response.map { .success($0) }
    }

    /// The agent that was set on this object.
    @exclusivity(unchecked) package var assignedAgent: RequestAgent?
    /// The output of the last run of a typed endpoint.
    @exclusivity(unchecked) var storedOutput: (any Sendable)?
    /// Whether a batch, a chain or a graph in progress has the request as a member.
    @exclusivity(unchecked) var isMember = false
    @exclusivity(unchecked) var attachedSuccess: ((BaseRequest) -> Void)?
    @exclusivity(unchecked) var attachedProgress:
        (@MainActor (BaseRequest, TransferProgress) -> Void)?
    @exclusivity(unchecked) var attachedFailure: ((BaseRequest, RequestError) -> Void)?

    package func makeDescription() -> RequestDescription { describeOverrides() }

    /// Names the request in the error of a run that was not started; reads only `method`.
    func name(_ error: inout RequestError, _ configuration: Configuration) {
        error.name(endpoint: EndpointType.of(type(of: self)).name, method: method, url: nil)
    }

    // MARK: - Running

    @MainActor
    override func launch(
        on agent: RequestAgent?, owner: RequestOwner?,
        then deliver: @escaping @MainActor (RequestError?) -> Void
    ) -> RequestTask {
        launchRequest(on: agent, owner: owner, then: deliver)
    }

    nonisolated(nonsending) override func perform(
        on agent: RequestAgent?, _ onStart: (RequestTask) -> Void
    ) async -> RequestError? {
        let run = enlist(on: agent)
        onStart(run.task)
        await run.agent.perform(run.task)
        return end(run).error
    }

    override func dispatch(
        on agent: RequestAgent?, owner: RequestOwner?, _ queue: DispatchQueue,
        then deliver: @escaping @Sendable (RequestError?) -> Void
    ) -> RequestTask {
        dispatchRequest(on: agent, owner: owner, queue, then: deliver)
    }
}
