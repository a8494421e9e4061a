#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An endpoint.
///
/// Subclass it, override what differs from the defaults, start it.
///
///     final class Register: BaseRequest {
///         let username: String
///         init(username: String) { self.username = username }
///         override var url: String { "/iphone/register" }
///         override var method: HTTPMethod { .post }
///         override var arguments: Arguments? { ["username": username] }
///     }
///     Register(username: "a").start { request in … } failure: { request, error in … }
///
/// A request stays with the actor that made it; only its description travels. Overrides are read once per start, by
/// ``describe()``, on the caller's side: keep them cheap and free of side effects. An endpoint may be started again,
/// also from inside its own callback; each start is a ``RequestTask`` of its own.
///
/// The word `nonisolated` is load-bearing: it keeps subclasses free of annotations in every language mode.
nonisolated open class BaseRequest {
    /// Makes a request.
    public init() {}

    // MARK: - Where

    /// Path below the base URL, or an absolute URL (default empty: the base URL itself).
    open var url: String { "" }
    /// In place of the configuration's base URL (default `nil`).
    open var baseURL: String? { nil }
    /// In place of the configuration's CDN URL (default `nil`).
    open var cdnURL: String? { nil }
    /// Whether the CDN's URL is the base (default false).
    open var usesCDN: Bool { false }
    /// A path segment between base and path, such as `v5` (default `nil`).
    open var apiVersion: String? { nil }

    // MARK: - What

    /// The method (default ``HTTPMethod/get``).
    open var method: HTTPMethod { .get }
    /// The arguments (default `nil`).
    open var arguments: Arguments? { nil }
    /// Where arguments go (default ``ArgumentPlacement/automatic``).
    open var argumentPlacement: ArgumentPlacement { .automatic }
    /// How arguments become a body (default ``RequestSerializer/form``).
    open var requestSerializer: RequestSerializer { .form }
    /// How arguments are written in query, form and JSON (default `nil`: the configuration's).
    open var argumentEncoding: ArgumentEncoding? { nil }
    /// A body in place of one made from arguments (default `nil`).
    open var body: HTTPBody? { nil }
    /// Compresses the body, such as `.gzip` (default `nil`: the configuration's, which has none).
    open var bodyEncoder: (any BodyEncoder)? { nil }
    /// Headers of this request; they win over shared ones (default none).
    open var headers: HTTPFields { [:] }
    /// Headers as plain text, for names and values that are not known to be well formed: they are
    /// checked and refused with ``RequestError/Code/invalidHeader``.
    ///
    /// They win over ``headers``. Default none.
    open var headerFieldValues: [String: String] { [:] }
    /// Credentials that go out with the first attempt (default `nil`).
    open var authorization: Authorization? { nil }
    /// Whether the configuration's headers are added (default true).
    open var usesSharedHeaders: Bool { true }
    /// Whether the configuration's arguments are added (default true).
    open var usesSharedArguments: Bool { true }
    /// A complete request in place of URL, method, arguments, headers and body.
    ///
    /// Validators, hooks, cache, retry and progress stay as they are (row MET-5). Its `timeoutInterval` is the idle
    /// limit where ``timeouts`` is `nil` and it is not the 60 seconds that nobody set. Default `nil`.
    open func customURLRequest() -> URLRequest? { nil }

    // MARK: - How

    /// Time limits (default `nil`: the configuration's).
    open var timeouts: Timeouts? { nil }
    /// Which of several waiting requests goes first (default ``RequestPriority/normal``).
    open var priority: RequestPriority { .normal }
    /// Whether a mobile connection may be used (default true).
    open var allowsCellularAccess: Bool { true }
    /// When to try again (default `nil`: the configuration's).
    open var retryPolicy: RetryPolicy? { nil }
    /// What happens when the same request is under way (default ``DuplicatePolicy/allow``).
    open var duplicatePolicy: DuplicatePolicy { .allow }
    /// Which redirects are followed (default `nil`: the configuration's).
    open var redirectPolicy: RedirectPolicy? { nil }
    /// Whom to trust over TLS (default `nil`: the configuration's).
    open var securityPolicy: SecurityPolicy? { nil }
    /// How it is carried, where that differs from the configuration: HTTP version, decoding, limits, proxy (default `nil`).
    open var transportOverrides: TransportOverrides? { nil }
    /// Whether cookies are sent and stored (default true).
    open var usesCookies: Bool { true }
    /// What happens while there is no network (default `nil`: the configuration's).
    open var connectivityPolicy: ConnectivityPolicy? { nil }

    // MARK: - Answer

    /// What the body is expected to be (default ``ResponseSerializer/json``).
    open var responseSerializer: ResponseSerializer { .json }
    /// Which statuses are a success (default `200..<300`).
    open var acceptableStatusCodes: Range<Int> { 200..<300 }
    /// Which statuses are a success, where a range cannot say it (default `nil`: ``acceptableStatusCodes``).
    open var statusCodeValidator: StatusCodeValidator? { nil }
    /// Which content types are a success.
    ///
    /// Default ``AcceptableContentTypes/automatic``: the configuration's, else those of the response serializer.
    open var acceptableContentTypes: AcceptableContentTypes { .automatic }
    /// The shape that JSON must have (default `nil`: any).
    open var validator: JSONShape? { nil }
    /// What the service's own rules say, behind all other validation (default `nil`: nothing).
    open var businessValidator: BusinessValidator? { nil }
    /// Whether members and items that are null are dropped from the JSON, behind validation (default false).
    open var removesNulls: Bool { false }
    /// Makes ``RequestError/body`` of an answer that failed (default `nil`: the configuration's).
    open var errorDecoder: ErrorDecoder? { nil }
    /// The endpoint's own steps behind validation, run off the main actor (default none).
    open var processors: [any ResponseProcessor] { [] }

    // MARK: - Cache

    /// How long an answer stays fresh, in seconds.
    ///
    /// Default -1: no caching. 0 reads an entry of this very moment and stores nothing (row CAC-1).
    open var cacheSeconds: Int { -1 }
    /// Entries of another version are not used (default 0).
    open var cacheVersion: Int { 0 }
    /// How the store is used (default `nil`: the configuration's, ``CachePolicy/cacheElseLoad``).
    open var cachePolicy: CachePolicy? { nil }
    /// Whose data this is; entries of another identity are not used (default `nil`: everybody's).
    open var cacheIdentity: String? { nil }
    /// The arguments that count for the cache key: return them without nonces and time stamps.
    ///
    /// Default: all.
    open func cacheArguments(_ arguments: Arguments?) -> Arguments? { arguments }
    /// Whether delivery does not wait for the write (default true).
    open var writesCacheAsynchronously: Bool { true }

    // MARK: - Hooks, called on the actor the request belongs to; there is no need to call `super`

    /// The request is about to start (default: nothing).
    open func willStart() {}
    /// The request succeeded; ``response`` is set.
    ///
    /// Called before delegate and closures. Default: nothing.
    open func didFinish() {}
    /// The request failed or was cancelled; ``error`` is set.
    ///
    /// Called before delegate and closures. Default: nothing.
    open func didFail() {}

    // MARK: - Properties

    /// A number of the user's choice (default 0).
    public var tag = 0
    /// Whatever else belongs to the request (default empty).
    public var userInfo: [String: any Sendable] = [:]
    /// Whether the store is not read; the answer is stored all the same (default false).
    public var ignoresCache = false
    /// Hears of the progress of every run, from any thread, every 100 ms at most; the last value comes before the
    /// end (default `nil`).
    ///
    /// `onProgress(_:)` calls back on the main actor, ``RequestTask/progress`` is a sequence.
    public var progressHandler: (@Sendable (TransferProgress) -> Void)?
    /// Companions, called in order.
    ///
    /// Held until removed. Default none.
    public var accessories: [any RequestAccessory] = []
    /// Hears of the end, after the hooks and before the closures (default `nil`).
    public weak var delegate: (any RequestDelegate)?
    /// Who carries the request out; `nil`, the default, is ``RequestAgent/shared``.
    public var agent: RequestAgent?

    /// What the last run brought; `nil` before it, and after a failure without an answer.
    public internal(set) var response: Response?
    /// Why the last run failed; `nil` before it and after a success.
    public internal(set) var error: RequestError?

    var attachedSuccess: ((BaseRequest) -> Void)?
    var attachedProgress: (@MainActor (BaseRequest, TransferProgress) -> Void)?
    var attachedFailure: ((BaseRequest, RequestError) -> Void)?

    // MARK: - Description

    /// Reads every override, once: the value that travels.
    ///
    /// Sends nothing.
    public final func describe() -> RequestDescription { makeDescription() }

    package func makeDescription() -> RequestDescription {
        var it = RequestDescription(endpoint: EndpointName.of(type(of: self)), url: url)
        it.endpointType = ObjectIdentifier(type(of: self))
        describeWhereAndWhat(&it)
        describeHowAndAnswer(&it)
        describeCustomRequest(&it)
        it.cacheSeconds = cacheSeconds
        it.cacheVersion = cacheVersion
        it.cachePolicy = cachePolicy
        it.cacheIdentity = cacheIdentity
        if it.needsKey {
            let counting = cacheArguments(it.arguments)
            if counting != it.arguments { it.cacheArguments = counting ?? Arguments() }
        }
        it.writesCacheAsynchronously = writesCacheAsynchronously
        it.ignoresCache = ignoresCache
        it.tag = tag
        it.progressHandler = progressHandler
        it.userInfo = userInfo
        return it
    }

    private func describeWhereAndWhat(_ it: inout RequestDescription) {
        // What is large and most often not there is not assigned: an assignment destroys what was there before.
        it.baseURL = baseURL
        it.cdnURL = cdnURL
        it.usesCDN = usesCDN
        it.apiVersion = apiVersion
        it.method = method
        it.arguments = arguments
        it.argumentPlacement = argumentPlacement
        it.requestSerializer = requestSerializer
        if let argumentEncoding { it.argumentEncoding = argumentEncoding }
        if let body { it.body = body }
        if let bodyEncoder { it.bodyEncoder = bodyEncoder }
        it.headers = headers
        it.headerFieldValues = headerFieldValues
        if let authorization { it.authorization = authorization }
        it.usesSharedHeaders = usesSharedHeaders
        it.usesSharedArguments = usesSharedArguments
    }

    /// What a `URLRequest` says about the manner of sending counts where the endpoint says nothing.
    private func describeCustomRequest(_ it: inout RequestDescription) {
        guard let custom = customURLRequest() else { return }
        it.customRequest = CustomRequest(custom)
        it.allowsCellularAccess = it.allowsCellularAccess && custom.allowsCellularAccess
        // 60 seconds are what nobody set.
        let idle = custom.timeoutInterval
        if it.timeouts == nil, idle != 60, idle > 0, idle < 1e9 {
            it.timeouts = Timeouts(idle: .milliseconds(Int64((idle * 1000).rounded(.up))))
        }
    }

    private func describeHowAndAnswer(_ it: inout RequestDescription) {
        if let timeouts { it.timeouts = timeouts }
        it.priority = priority
        it.allowsCellularAccess = allowsCellularAccess
        if let retryPolicy { it.retryPolicy = retryPolicy }
        it.duplicatePolicy = duplicatePolicy
        if let redirectPolicy { it.redirectPolicy = redirectPolicy }
        if let securityPolicy { it.securityPolicy = securityPolicy }
        if let transportOverrides { it.transportOverrides = transportOverrides }
        it.usesCookies = usesCookies
        if let connectivityPolicy { it.connectivityPolicy = connectivityPolicy }
        it.responseSerializer = responseSerializer
        it.acceptableStatusCodes = acceptableStatusCodes
        if let statusCodeValidator { it.statusCodeValidator = statusCodeValidator }
        it.acceptableContentTypes = acceptableContentTypes
        if let validator { it.validator = validator }
        if let businessValidator { it.businessValidators = [businessValidator] }
        it.removesNulls = removesNulls
        if let errorDecoder { it.errorDecoder = errorDecoder }
        it.processors = processors
    }

    /// Takes what a run brought; typed requests take their output too.
    package func take(_ outcome: TaskOutcome) {
        switch outcome.result {
        case .success(let response):
            self.response = response
            error = nil
        case .failure(let error):
            response = error.response
            self.error = error
        }
    }
}
