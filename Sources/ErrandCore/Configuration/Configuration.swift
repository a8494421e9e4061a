import ErrandJSON
public import HTTPTypes

/// The settings that all requests of an agent share: a value, replaceable while requests run.
///
/// Each task keeps the configuration with which it started.
public struct Configuration: Sendable {
    /// The base of relative URLs; `nil` or empty means none.
    public var baseURL: EndpointURL?
    /// The base URL of requests that use the CDN.
    public var cdnURL: EndpointURL?
    /// Named deployments of the service (default none).
    public var environments: [String: Environment] = [:]
    /// The name of the environment in use.
    ///
    /// `nil`, the default, uses ``baseURL`` and ``cdnURL``. A name that ``environments`` lacks fails
    /// requests with ``RequestError/Code/invalidConfiguration``.
    public var environment: String?
    /// The API version of endpoints that do not set one; `nil` or empty, the default, means none.
    ///
    /// A path segment, or several, between the base URL and a relative URL: `https://example.com/v5/users`. An endpoint
    /// whose version is empty text has none.
    public var apiVersion: String?
    /// Changes the description of every request, after the endpoint has set it and before anything is encoded or
    /// checked.
    ///
    ///     configuration.prepare = { request in
    ///         request.arguments = (request.arguments ?? [:]).merging(["version": "5.1"])
    ///         if !request.url.isAbsolute { request.url = "v2/\(request.url)" }
    ///     }
    ///
    /// Default `nil`. It has the last word about the endpoint's settings; a setting that it leaves unset comes from this
    /// configuration. Called once for each start, also for members of composites, streams and pages, on the thread
    /// that starts the request: it must be fast. Work that suspends or fails belongs in ``headerProvider``,
    /// ``argumentProvider``, ``interceptors`` or ``requestProcessors``.
    public var prepare: (@Sendable (inout RequestDescription) -> Void)?

    /// Headers of every request; the request's own take precedence.
    ///
    /// A `Content-Type`, here and in every other place of the configuration, applies to bodies without a content type
    /// of their own; one that ends with `+json` also applies to JSON bodies. ``fixedHeaderNames`` makes it apply to all.
    public var sharedHeaders: HTTPFields = [:]
    /// Computes headers for each request; they override ``sharedHeaders``, not the request's own.
    ///
    /// Called once per request: all its attempts and redirects send the same values.
    public var headerProvider: (@Sendable () async throws -> HTTPFields)?
    /// Names of shared headers that override the request's own (default none).
    ///
    /// Does not apply to ``hostHeaders``, which never override the request's own.
    public var fixedHeaderNames: Set<HTTPField.Name> = []
    /// Headers of requests to some hosts; they override shared headers, not the request's own.
    ///
    /// They are not sent to other origins after a redirect, or if a request processor changes the
    /// origin. Not used if an endpoint's `uses` lacks `.sharedHeaders`.
    public var hostHeaders: [HostPattern: HTTPFields] = [:]
    /// Authenticators by host; the most specific pattern that matches serves a request (default none).
    ///
    ///     configuration.authenticators = [
    ///         "api.example.com": .bearer { await session.token } refresh: { try await session.renew() },
    ///         "*.example.com": .apiKey("key", in: .header(.authorization)),
    ///     ]
    ///
    /// Requests that use the same ``Authenticator`` object, on any agent, share its refreshes, also if other entries
    /// are set meanwhile. An invalid pattern, or a ``Authenticator/refreshTimeout`` of zero or less, fails requests
    /// with ``RequestError/Code/invalidConfiguration``.
    public var authenticators: [HostPattern: any Authenticator] = [:] {
        didSet { servedHosts = ServedHosts.entries(of: authenticators) }
    }
    /// The entries of ``authenticators``, the most specific first.
    private(set) var servedHosts: [ServedHosts] = []
    /// Arguments of every request; the request's own take precedence.
    public var sharedArguments: Arguments = [:]
    /// Computes arguments for each request, once for all its attempts.
    ///
    /// They override ``sharedArguments``, not the request's own.
    public var argumentProvider: (@Sendable () async throws -> Arguments)?
    /// Arguments of requests to some hosts (default none).
    ///
    /// They override shared ones, not the request's own. The host is that of the joined URL.
    public var hostArguments: [HostPattern: Arguments] = [:]
    /// Names of shared arguments that override the request's own.
    public var fixedArgumentNames: Set<String> = []
    /// The argument encoding of requests that do not set one.
    public var argumentEncoding = ArgumentEncoding()
    /// Compresses the bodies of requests without an encoder of their own.
    ///
    /// Files and streams are sent unchanged. Default `nil`: no compression.
    public var bodyEncoder: (any BodyEncoder)?
    /// The `User-Agent` value; `nil` sends one that names Errand, an empty one sends none.
    public var userAgent: String?

    /// The names of header fields and arguments whose values are secret (default ``SecretNames/standard``).
    ///
    /// They decide which fields a redirect to another origin removes, which separate the users of a cache and of shared
    /// transfers, which the outbox does not store and the download queue refuses, and which values logs, archives,
    /// cassettes, the inspector and the curl command replace.
    public var secretNames = SecretNames.standard

    /// Whether cookies are sent and stored (default true).
    ///
    /// An endpoint opts out with `uses.remove(.cookies)`.
    public var usesCookies = true
    /// The cookie jar; `nil`, the default, keeps cookies in memory, separately for each agent.
    public var cookieJar: CookieJar?

    /// The timeouts of requests that do not set them.
    public var timeouts = Timeouts()
    /// The retry policy of requests that do not set one (default none).
    public var retryPolicy = RetryPolicy.none
    /// The redirect policy of requests that do not set one.
    public var redirectPolicy = RedirectPolicy.follow
    /// Decides about each redirect that the policy would follow.
    ///
    /// It can follow, deliver the 3xx, or send another request. Called off the main actor, for one
    /// redirect after another; it must be fast. Default `nil`.
    public var redirectDecider: (@Sendable (ProposedRedirect) -> RedirectVerdict)?
    /// The limits on concurrent and waiting requests (default no limit).
    public var limits = RequestLimits()
    /// The rate limit of each host (default no limit).
    public var rateLimit: RateLimit?
    /// Rate limits of some hosts, in place of ``rateLimit``; the most specific pattern applies.
    ///
    /// Default none. An invalid pattern fails requests with ``RequestError/Code/invalidConfiguration``.
    public var hostRateLimits: [HostPattern: RateLimit] = [:]
    /// Rate limits by tag for any host, in addition to the limits of hosts (default none).
    ///
    /// Each attempt counts, and each redirect.
    public var tagRateLimits: [Int: RateLimit] = [:]
    /// Whether rate limits are learned from responses (default false).
    ///
    /// If true, 429, `Retry-After` and the `RateLimit` header delay requests to the host, by at
    /// most five minutes. `RateLimit-Policy` applies if ``rateLimit`` and ``hostRateLimits`` set no
    /// limit for the host.
    public var learnsRateLimits = false
    /// The retry budget of each host; `nil`, the default, has no limit.
    public var retryBudget: RetryBudget?
    /// The circuit breaker of each host; `nil`, the default, has none.
    public var circuitBreaker: CircuitBreakerPolicy?
    /// Decides about failed attempts before the retry policy does (default `nil`).
    ///
    /// An endpoint's decider decides first; if it returns ``FailedAttempt/Verdict/asPolicy``, this one does.
    public var retryDecider: RetryDecider?
    /// The source of the network state for ``connectivityPolicy``.
    public var reachability: (any Reachability)?
    /// The connectivity policy of requests that do not set one.
    ///
    /// Default ``ConnectivityPolicy/ignore``.
    public var connectivityPolicy = ConnectivityPolicy.ignore
    /// The transport options.
    public var transportOptions = TransportOptions()

    /// The cache policy of requests that do not set one.
    public var cachePolicy = CachePolicy.cacheElseLoad
    /// The settings of ``CachePolicy/http``, such as heuristic freshness.
    public var httpCache = CachePolicy.HTTPSettings()
    /// Changes every response before it is stored, before the endpoint's closure does; `nil` from the closure stores
    /// nothing.
    ///
    /// Default `nil`: responses are stored as they are. See ``RequestDescription/CacheOptions/transform``.
    public var responseToStore: (@Sendable (Response) -> Response?)?
    /// The cache identity of endpoints that do not set one (default `nil`).
    ///
    /// Set it to the user when a user signs in, and to another value or `nil` when the user signs
    /// out. Entries of another identity are not used.
    public var cacheIdentity: String?
    /// The app's version; entries that another version stored are not used.
    public var appVersion: String?

    /// The accepted content types of endpoints that set none, except downloads.
    ///
    /// Default `nil`: those of the endpoint's format. `["*/*"]` accepts every type.
    public var acceptableContentTypes: Set<String>?
    /// Rules of the service for every response, applied before the endpoint's own (default none).
    public var responseRules: [ResponseRule] = []
    /// How the JSON of endpoints that do not set it is written and read (default: dates in ISO 8601).
    public var json = JSONOptions() {
        didSet {
            responseDecoder = json.hasStrategies ? Shared(json.decoder) : nil
            requestEncoder = json.encoder
        }
    }
    /// The decoder of ``json``, if that has strategies.
    fileprivate var responseDecoder: Shared<JSONReader>?
    /// The encoder of ``json``.
    private(set) var requestEncoder = JSONWriter.requestDefault
    /// The error decoder of endpoints that do not set one (default `nil`: none).
    public var errorDecoder: ErrorDecoder?
    /// Interceptors of every request, the outermost first (default none).
    ///
    /// They are outside the endpoint's own.
    public var interceptors: [any Interceptor] = []
    /// Steps between validation and delivery of every response, such as decryption or business errors (default none).
    ///
    ///     configuration.responseProcessors.append { response in
    ///         response.body = try .data(decrypted(response.data))
    ///     }
    ///
    /// Called in order, before the endpoint's own (``RequestDescription/responseProcessors``), off the main actor, also
    /// for stored responses. ``Response/attempts`` counts the attempts; it is 0 for a response from the cache. A thrown
    /// error fails the request with ``RequestError/Code/processingFailed``; a thrown ``RequestError`` is delivered.
    public var responseProcessors: [@Sendable (_ response: inout Response) async throws -> Void] =
        []
    /// Steps that change the final request, for example to sign or encrypt its body (default none).
    ///
    ///     configuration.requestProcessors.append { request, description, attempt in
    ///         request.headers[.from] = "\(description.endpoint), attempt \(attempt)"
    ///     }
    ///
    /// Called in order before each attempt, counted from 1, after serialization, compression and ``interceptors``, for
    /// single requests and for members of batches, chains and graphs; `HTTPBody.bytes()` reads the body. Those of the
    /// endpoint (``RequestDescription/requestProcessors``) follow. Each attempt starts from the serialized request, so
    /// nothing is signed or encrypted twice; the cache key is that of the serialized request.
    ///
    /// A thrown error fails the request with ``RequestError/Code/adaptationFailed``. A URL with an invalid component
    /// fails it with ``RequestError/Code/invalidURL``; if the URL has another origin afterwards, credentials of the
    /// original request are removed.
    public var requestProcessors:
        [@Sendable (
            _ request: inout TransportRequest, _ description: RequestDescription, _ attempt: Int
        ) async throws -> Void] = []
    /// Steps that change errors before they are delivered (default none).
    ///
    ///     configuration.errorProcessors.append { error in error.message += " Call support." }
    ///
    /// Called in order, off the main actor. ``RequestError/attempts`` counts the attempts; it is 0 if nothing was sent.
    /// Not called for cancelled requests, nor for failed attempts that are retried: ``retryDecider`` receives those.
    public var errorProcessors: [@Sendable (_ error: inout RequestError) async -> Void] = []
    /// Replaces a failure by a response, after ``errorProcessors`` (default `nil`).
    ///
    /// The response is a success without further validation; `nil` keeps the failure. Not called
    /// for cancelled requests.
    public var errorRecovery: (@Sendable (RequestError, RequestDescription) async -> Response?)?
    /// The message of an error for the users of an app; `nil` from the closure keeps the one for developers.
    ///
    ///     configuration.userMessage = { error in
    ///         switch error.code {
    ///         case .offline: "There is no network."
    ///         case .unacceptableStatus: error.body(as: Problem.self)?.title
    ///         default: "Something went wrong. Please try again. (\(error.code))"
    ///         }
    ///     }
    ///
    /// Default `nil`. It becomes ``RequestError/userMessage`` and `error.localizedDescription`; `error.description` is
    /// unchanged, for logs. Called off the main actor for the error that is delivered, after ``errorProcessors``, also
    /// for cancelled requests; it must be fast.
    public var userMessage: (@Sendable (_ error: RequestError) -> String?)?
    /// Values of your choice for every request, in addition to its own `metadata` (default none).
    ///
    /// The request's own value of a key takes precedence.
    public var metadata = RequestMetadata()
    /// The listeners of all events.
    public var eventListeners: [any RequestEventListener] = []

    /// Accessories of every request object, defined by the module Errand.
    package var sharedAccessories: [any Sendable] = []

    /// Creates a configuration with defaults.
    public init(baseURL: EndpointURL? = nil, cdnURL: EndpointURL? = nil) {
        self.baseURL = baseURL
        self.cdnURL = cdnURL
    }
}

extension Configuration: CustomStringConvertible, CustomReflectable {
    /// No children, because shared headers, arguments and authenticators contain secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// The base URL and the selected environment.
    public var description: String {
        let base = baseURL?.redacted ?? "no base"
        return "Configuration: \(base)\(environment.map { ", \($0)" } ?? "")"
    }
}

extension Configuration {
    /// Whether ``complete(_:)`` can change a description.
    var completesDescriptions: Bool {
        acceptableContentTypes != nil || errorDecoder != nil || bodyEncoder != nil
            || responseDecoder != nil || !responseRules.isEmpty || !metadata.isEmpty
    }

    /// Fills settings that the endpoint leaves unset.
    ///
    /// In place, because a description is expensive to copy.
    func complete(_ description: inout RequestDescription) {
        // A download accepts any content type unless the endpoint sets one.
        let typesCount =
            acceptableContentTypes != nil && description.acceptance.contentTypes == nil
            && !description.isDownload && description.upgrade == nil
        let decoderCounts = errorDecoder != nil && description.errorDecoder == nil
        let encoderCounts = bodyEncoder != nil && description.compression == nil
        if typesCount { description.acceptance.contentTypes = acceptableContentTypes }
        if decoderCounts { description.errorDecoder = errorDecoder }
        // Files and streams are sent unchanged; an encoder of the endpoint itself would refuse
        // them.
        if encoderCounts, description.body?.isInMemory != false {
            description.compression = bodyEncoder
        }
        if !responseRules.isEmpty {
            description.acceptance.rules.insert(contentsOf: responseRules, at: 0)
        }
        if !metadata.isEmpty { description.metadata.add(metadata) }
        if description.hasRareMembers, description.json.hasStrategies {
            description.jsonDecoder = Shared(description.json.completed(by: json).decoder)
        } else if let responseDecoder {
            description.jsonDecoder = responseDecoder
        }
    }
}
