public import ErrandJSON
public import HTTPTypes

/// What an endpoint object says about itself, read once when it starts: the value that travels.
///
/// Each member has the meaning and the default of the override of the same name on `BaseRequest`.
public struct RequestDescription: Sendable {
    /// The endpoint's type name.
    public var endpoint: String
    /// The endpoint's type: unlike its name, nobody else's; `nil` for a description made by hand.
    package var endpointType: ObjectIdentifier?

    /// Path below the base URL, or an absolute URL.
    public var url: String
    /// In place of the configuration's base URL.
    public var baseURL: String?
    /// In place of the configuration's CDN URL.
    public var cdnURL: String?
    /// Whether the CDN's URL is the base.
    public var usesCDN = false
    /// A path segment between base and path.
    public var apiVersion: String?

    /// The method.
    public var method: HTTPMethod = .get
    /// The arguments.
    public var arguments: Arguments?
    /// Where the arguments go.
    public var argumentPlacement: ArgumentPlacement = .automatic
    /// How arguments are written; `nil` takes the configuration's.
    public var argumentEncoding: ArgumentEncoding?
    /// How arguments become a body.
    public var requestSerializer: RequestSerializer = .form
    /// A body in place of one made from arguments.
    public var body: HTTPBody?
    /// Compresses the body; `nil` sends it as it is.
    public var bodyEncoder: (any BodyEncoder)?
    /// Headers of this request.
    public var headers: HTTPFields = [:]
    /// Headers of this request as plain text; checked, and stronger than ``headers``.
    public var headerFieldValues: [String: String] = [:]
    /// Credentials.
    public var authorization: Authorization?
    /// Whether the configuration's headers are added.
    public var usesSharedHeaders = true
    /// Whether the configuration's arguments are added.
    public var usesSharedArguments = true
    /// A complete request in place of URL, method, arguments, body and headers (row MET-5).
    public var customRequest: CustomRequest?

    /// Time limits; `nil` takes the configuration's.
    public var timeouts: Timeouts?
    /// Which of several waiting requests goes first.
    public var priority: RequestPriority = .normal
    /// Whether a mobile connection may be used.
    public var allowsCellularAccess = true
    /// When to try again; `nil` takes the configuration's.
    public var retryPolicy: RetryPolicy?
    /// What happens when the same request is under way.
    public var duplicatePolicy: DuplicatePolicy = .allow
    /// Which redirects are followed; `nil` takes the configuration's.
    public var redirectPolicy: RedirectPolicy?
    /// Whom to trust; `nil` takes the configuration's.
    public var securityPolicy: SecurityPolicy?
    /// See `BaseRequest.transportOverrides`.
    public var transportOverrides: TransportOverrides?
    /// Whether cookies are sent and stored.
    public var usesCookies = true
    /// What happens while there is no network; `nil` takes the configuration's.
    public var connectivityPolicy: ConnectivityPolicy?

    /// What the body is expected to be.
    public var responseSerializer: ResponseSerializer = .json
    /// Which statuses are a success.
    public var acceptableStatusCodes: Range<Int> = 200..<300
    /// Which statuses are a success, in place of ``acceptableStatusCodes``.
    public var statusCodeValidator: StatusCodeValidator?
    /// Which content types are a success.
    public var acceptableContentTypes: AcceptableContentTypes = .automatic
    /// The shape that JSON must have.
    public var validator: JSONShape?
    /// What the service's own rules say about answers, in order; the first that does not accept counts.
    public var businessValidators: [BusinessValidator] = []
    /// Whether members and items that are null are dropped from the JSON, behind validation.
    public var removesNulls = false
    /// Makes the error's body of an answer that failed.
    public var errorDecoder: ErrorDecoder?
    /// The endpoint's own steps behind validation.
    public var processors: [any ResponseProcessor] = []

    /// How long an answer stays fresh, in seconds; negative: no caching.
    public var cacheSeconds = -1
    /// Entries of another version are not used.
    public var cacheVersion = 0
    /// How the store is used; `nil` takes the configuration's.
    public var cachePolicy: CachePolicy?
    /// Whose data this is.
    public var cacheIdentity: String?
    /// The arguments that count for the cache key, without nonces and time stamps; `nil`: all of them.
    public var cacheArguments: Arguments?
    /// Whether delivery does not wait for the write.
    public var writesCacheAsynchronously = true
    /// Whether the store is not read this once.
    ///
    /// The answer is stored all the same.
    public var ignoresCache = false

    /// A number of the user's choice.
    public var tag = 0
    /// Whatever else the user attached.
    public var userInfo: [String: any Sendable] = [:]
    /// Hears of the progress, from any thread, every 100 ms at most and before the end.
    public var progressHandler: (@Sendable (TransferProgress) -> Void)?
    /// Makes the typed output of an endpoint that has one; runs in the pipeline, off the main actor.
    package var decode:
        (@Sendable (Response, FastJSONDecoder) throws(RequestError) -> any Sendable)?
    /// Whether the configuration's URL filters have run: on what an outbox kept.
    package var isURLFiltered = false
    /// Whether this renews a stored answer for whoever asks next.
    package var renewsStored = false
    /// Where a download goes; `nil` for everything that is none.
    public var download: DownloadPlan?

    /// Whether anybody will ask for the cache key.
    package var needsKey: Bool {
        cacheSeconds >= 0 || duplicatePolicy != .allow || cachePolicy != nil
    }

    /// Whether making the request of it takes next to no time, and calls nobody: nothing to write, no digest, no file,
    /// nothing to look up, nobody who hears of it.
    package var isLight: Bool {
        guard method == .get || method == .head || method == .delete else { return false }
        return arguments == nil && body == nil && customRequest == nil && download == nil
            && progressHandler == nil && errorDecoder == nil && !needsKey
    }

    /// A description with every default.
    public init(endpoint: String, url: String) {
        self.endpoint = endpoint
        self.url = url
    }
}
