public import HTTPTypes

/// What an agent's requests have in common: a value, replaceable while requests run.
///
/// Each task keeps the configuration with which it started.
public struct Configuration: Sendable {
    /// The base of relative URLs; `nil` or empty is none (row URL-2).
    public var baseURL: String?
    /// The base of requests that use the CDN.
    public var cdnURL: String?
    /// Places where the service lives, by name (default none).
    public var environments: [String: Environment] = [:]
    /// The name of the environment in use.
    ///
    /// `nil`, the default, uses ``baseURL`` and ``cdnURL`` as they are. A name that ``environments`` lacks fails
    /// requests with ``RequestError/Code/invalidConfiguration``.
    public var environment: String?
    /// How base and path are joined (default ``URLJoining/rfc3986``).
    public var urlJoining: URLJoining = .rfc3986
    /// Where an endpoint's API version goes (row URL-8).
    public var apiVersionPlacement: APIVersionPlacement = .path
    /// Filters of the endpoint's URL before it is joined with the base, in order (row URL-7).
    public var urlFilters: [any URLFilter] = []
    /// Filters of the final, absolute URL, in order.
    public var absoluteURLFilters: [any URLFilter] = []

    /// Headers of every request; the request's own win.
    public var sharedHeaders: HTTPFields = [:]
    /// Headers made for each request, later than ``sharedHeaders``; the request's own win.
    public var headerProvider: (@Sendable () async throws -> HTTPFields)?
    /// Headers of requests to some hosts; stronger than the shared ones, weaker than the request's own.
    ///
    /// They do not follow redirects to other origins. Off with an endpoint's `usesSharedHeaders`.
    public var hostHeaders: [HostPattern: HTTPFields] = [:]
    /// Who puts credentials on requests to which hosts; the first that matches (default none).
    public var authenticators: [HostAuthenticator] = []
    /// Arguments of every request; the request's own win (row CFG-3).
    public var sharedArguments: Arguments = [:]
    /// Arguments made for each request, later than ``sharedArguments``; the request's own win.
    public var argumentProvider: (@Sendable () async throws -> Arguments)?
    /// Shared arguments with these names win over the request's own.
    public var fixedArgumentNames: Set<String> = []
    /// How arguments are written by requests that do not say.
    public var argumentEncoding = ArgumentEncoding()
    /// The `User-Agent`; `nil` sends one that names Errand.
    public var userAgent: String?

    /// Whether cookies are sent and stored at all (default true).
    ///
    /// An endpoint's `usesCookies` decides for it alone.
    public var usesCookies = true
    /// Where cookies are kept; `nil`, the default, is in memory, for each agent its own.
    public var cookieJar: CookieJar?

    /// Time limits of requests that name none.
    public var timeouts = Timeouts()
    /// Retry of requests that name none (default none).
    public var retryPolicy = RetryPolicy.none
    /// Redirects of requests that name none.
    public var redirectPolicy = RedirectPolicy.follow
    /// How many requests are under way at once in all; `nil` has no limit (default none).
    public var maximumRequestsInFlight: Int?
    /// How many requests are under way at once in all, to one host, with one tag, and how many wait (default
    /// no limit).
    public var limits = RequestLimits()
    /// How often requests go to each host (default no limit).
    public var rateLimit: RateLimit?
    /// How often requests go to these hosts, in place of ``rateLimit``.
    public var hostRateLimits: [String: RateLimit] = [:]
    /// Whether hosts are left in peace as 429, `Retry-After` and the `RateLimit` headers ask, and are asked no more
    /// often than `RateLimit-Policy` allows where ``rateLimit`` and ``hostRateLimits`` say nothing (default false).
    public var learnsRateLimits = false
    /// How many retries each host may cost; `nil`, the default, has no limit.
    public var retryBudget: RetryBudget?
    /// When a failing host is left in peace; `nil`, the default, is never.
    public var circuitBreaker: CircuitBreakerPolicy?
    /// Decides about failed attempts before the policy does; `nil`, the default, leaves it to the policy.
    public var retryDecider: (@Sendable (FailedAttempt) -> RetryVerdict)?
    /// Tells whether there is a network, for ``connectivityPolicy``.
    public var reachability: (any Reachability)?
    /// What happens to requests that do not say while there is no network (default ``ConnectivityPolicy/ignore``).
    public var connectivityPolicy = ConnectivityPolicy.ignore
    /// Settings of the transport.
    public var transport = TransportOptions()

    /// How the store is used by requests that do not say.
    public var cachePolicy = CachePolicy.cacheElseLoad
    /// Whose data the answers are, for endpoints that do not say.
    ///
    /// Set it when somebody signs in, and to another
    /// value or `nil` when they sign out. Default `nil`.
    public var cacheIdentity: String?
    /// Entries written by another version of the app are not used (row CAC-6).
    public var appVersion: String?

    /// Processors of every answer, before the endpoint's own.
    public var responseProcessors: [any ResponseProcessor] = []
    /// Last changes to the request, serialized body included, before each task's first attempt.
    public var requestProcessors: [any RequestProcessor] = []
    /// Changes to errors before they are delivered.
    public var errorProcessors: [@Sendable (RequestError) async -> RequestError] = []
    /// Who hears of every event.
    public var eventListeners: [any RequestEventListener] = []

    /// Companions of every request object, which this module does not know.
    package var companions: [any Sendable] = []

    /// A configuration with every default and, where given, the bases.
    public init(baseURL: String? = nil, cdnURL: String? = nil) {
        self.baseURL = baseURL
        self.cdnURL = cdnURL
    }
}

/// How a base URL and an endpoint's path become one (row URL-3).
public enum URLJoining: Sendable, Hashable {
    /// The base gets a trailing slash, then RFC 3986 §5.2: a leading slash in the path drops the base's path.
    case rfc3986
    /// The path is appended with exactly one slash between, whatever it begins with.
    case append
}

/// Where the API version of an endpoint with a relative URL goes (row URL-8).
public enum APIVersionPlacement: Sendable, Hashable {
    /// Between base and path, as a segment: `https://example.com/v5/users`. The default.
    case path
    /// Into a header with this name.
    case header(String)
    /// Into the query under this name.
    case query(String)
}

/// Changes a URL on its way (row URL-7).
public protocol URLFilter: Sendable {
    /// Returns the URL to use in place of this one. What it throws fails the request.
    func filter(_ url: String, of request: RequestDescription) async throws -> String
}

/// A filter made of a closure.
public struct ClosureURLFilter: URLFilter {
    private let body: @Sendable (String, RequestDescription) async throws -> String

    /// Makes a filter.
    public init(_ body: @escaping @Sendable (String, RequestDescription) async throws -> String) {
        self.body = body
    }

    /// Calls the closure.
    public func filter(_ url: String, of request: RequestDescription) async throws -> String {
        try await body(url, request)
    }
}

/// Changes the final request: a signature over the bytes of the body, encryption (row RSQ-8).
public protocol RequestProcessor: Sendable {
    /// Changes the request, or throws what fails it.
    func process(_ request: inout TransportRequest, of description: RequestDescription) async throws
}
