public import ErrandJSON
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
    /// Whether ``urlFilters`` see the URLs of endpoints that are absolute already (default true).
    ///
    /// False is what YTKNetwork did: an absolute URL is sent as it is (row URL-1). ``absoluteURLFilters`` see all.
    public var filtersAbsoluteURLs = true
    /// Filters of the final, absolute URL, in order.
    public var absoluteURLFilters: [any URLFilter] = []

    /// Headers of every request; the request's own win.
    public var sharedHeaders: HTTPFields = [:]
    /// Headers made for each request, later than ``sharedHeaders``; the request's own win.
    public var headerProvider: (@Sendable () async throws -> HTTPFields)?
    /// Shared headers with these names win over the request's own.
    ///
    /// Default none. Those of ``hostHeaders`` are not meant: they are weaker than the request's.
    public var fixedHeaderNames: Set<HTTPField.Name> = []
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
    /// Arguments of requests to some hosts; stronger than the shared ones, the request's own win (default none).
    ///
    /// The host is that of the joined URL, before ``absoluteURLFilters``.
    public var hostArguments: [HostPattern: Arguments] = [:]
    /// Shared arguments with these names win over the request's own.
    public var fixedArgumentNames: Set<String> = []
    /// How arguments are written by requests that do not say.
    public var argumentEncoding = ArgumentEncoding()
    /// Compresses the bodies of requests that have no encoder of their own; files and streams go out as they are.
    ///
    /// Default `nil`: none is compressed.
    public var bodyEncoder: (any BodyEncoder)?
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
    /// Has the last word on each redirect that the policy would follow: follow it, deliver the 3xx, or send another
    /// request.
    ///
    /// Called off the main actor for one redirect after the other; be quick. Default `nil`.
    public var redirectDecider: (@Sendable (ProposedRedirect) -> RedirectVerdict)?
    /// How many requests are under way at once in all; `nil` has no limit (default none).
    public var maximumRequestsInFlight: Int?
    /// How many requests are under way at once in all, to one host, with one tag, and how many wait (default
    /// no limit).
    public var limits = RequestLimits()
    /// How often requests go to each host (default no limit).
    public var rateLimit: RateLimit?
    /// How often requests go to these hosts, in place of ``rateLimit``; in whatever case they are written, and
    /// `*.example.com` means each host below a domain (default none).
    ///
    /// Of several patterns the more particular one counts; one that is no ``HostPattern`` is
    /// ``RequestError/Code/invalidConfiguration``.
    public var hostRateLimits: [String: RateLimit] = [:]
    /// How often requests with these tags go, to whatever host, beside the limits of the hosts (default none).
    ///
    /// Each attempt counts, and each hop of a redirect.
    public var tagRateLimits: [Int: RateLimit] = [:]
    /// Whether hosts are left in peace as 429, `Retry-After` and the `RateLimit` headers ask, and are asked no more
    /// often than `RateLimit-Policy` allows where ``rateLimit`` and ``hostRateLimits`` say nothing (default false).
    ///
    /// No answer makes a request wait longer than five minutes.
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
    /// What ``CachePolicy/http`` guesses where servers say nothing.
    public var httpCache = HTTPCacheSettings()
    /// Whose data the answers are, for endpoints that do not say.
    ///
    /// Set it when somebody signs in, and to another
    /// value or `nil` when they sign out. Default `nil`.
    public var cacheIdentity: String?
    /// Entries written by another version of the app are not used (row CAC-6).
    public var appVersion: String?

    /// Which content types are a success for endpoints whose own are `.automatic` (row RSP-2).
    ///
    /// Default ``AcceptableContentTypes/automatic``: those of the response serializer. `.any` ignores what servers
    /// say. Downloads take no part.
    public var acceptableContentTypes = AcceptableContentTypes.automatic
    /// What the service's own rules say about every answer, before the endpoint's own (default none).
    public var businessValidators: [BusinessValidator] = []
    /// Makes values of JSON for endpoints that bring no decoder of their own (default: no strategies).
    public var jsonDecoder = FastJSONDecoder()
    /// Makes the body of errors for endpoints that have no decoder for it (default `nil`: none).
    public var errorDecoder: ErrorDecoder?
    /// Processors of every answer, before the endpoint's own.
    public var responseProcessors: [any ResponseProcessor] = []
    /// Last changes to the request, serialized body included, before each attempt.
    ///
    /// Each attempt begins with the request as it was serialized, so that nothing is signed or encrypted twice.
    public var requestProcessors: [any RequestProcessor] = []
    /// Changes to errors before they are delivered.
    public var errorProcessors: [@Sendable (RequestError) async -> RequestError] = []
    /// Answers in place of failures: the last word before delivery, behind ``errorProcessors`` (row VAL-16).
    ///
    /// An answer that it returns is a success, without further validation; `nil` leaves the failure. Cancelled
    /// requests take no part. Default `nil`.
    public var errorRecovery: (@Sendable (RequestError, RequestDescription) async -> Response?)?
    /// Texts of errors for people; `nil`, the default, has none.
    public var errorMessages: ErrorMessages?
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
