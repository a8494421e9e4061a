public import ErrandJSON
package import ErrandTransport
import Foundation
public import HTTPTypes

/// The settings of one request, read from its endpoint object when it starts.
///
/// Each member has the meaning and the default of the override of the same name on `BaseRequest`.
public struct RequestDescription: Sendable {
    /// The endpoint's type name.
    public var endpoint: String
    /// The endpoint's type, which unlike the name is unique; `nil` if there is no endpoint.
    package var endpointType: ObjectIdentifier?

    /// A path relative to the base URL, or an absolute URL.
    public var url: EndpointURL
    /// Replaces the configuration's base URL.
    public var baseURL: EndpointURL?
    /// Replaces the configuration's CDN URL.
    public var cdnURL: EndpointURL? {
        get { rare?.value.cdnURL }
        set { change { $0.cdnURL = newValue } }
    }
    /// Whether the CDN URL is the base.
    public var usesCDN = false
    /// The API version, a path segment between base and path; `nil` uses the configuration's, an empty text none.
    public var apiVersion: String? {
        get { rare?.value.apiVersion }
        set { change { $0.apiVersion = newValue } }
    }

    /// The method.
    public var method: HTTPMethod = .get
    /// The arguments.
    public var arguments: Arguments?
    /// The position of the arguments: query, body, or both.
    public var argumentPlacement: ArgumentPlacement = .automatic
    /// The argument encoding; `nil` uses the configuration's.
    public var argumentEncoding: ArgumentEncoding? {
        get { rare?.value.argumentEncoding }
        set { change { $0.argumentEncoding = newValue } }
    }
    /// The format of a body made from arguments.
    public var requestSerializer: RequestSerializer = .form
    /// The body, instead of one made from arguments.
    public var body: HTTPBody?
    /// Compresses the body; `nil` sends it unchanged.
    public var bodyEncoder: (any BodyEncoder)? {
        get { rare?.value.bodyEncoder }
        set { change { $0.bodyEncoder = newValue } }
    }
    /// Headers of this request.
    public var headers = HTTPFields()
    /// Headers as strings, validated; they override ``headers``.
    public var headerFieldValues = HeaderPairs()
    /// Credentials.
    public var authorization: Authorization? {
        get { rare?.value.authorization }
        set { change { $0.authorization = newValue } }
    }
    /// Whether the configuration's headers are added.
    public var usesSharedHeaders = true
    /// Whether the configuration's arguments are added.
    public var usesSharedArguments = true
    /// A complete request that replaces URL, method, arguments, body and headers.
    public var customRequest: CustomRequest? {
        get { rare?.value.customRequest }
        set { change { $0.customRequest = newValue } }
    }

    /// The bandwidth limit of the transfers of this request.
    package var bandwidth: BandwidthLimit? {
        get { rare?.value.bandwidth }
        set { change { $0.bandwidth = newValue } }
    }
    /// The timeouts; `nil` uses the configuration's.
    public var timeouts: Timeouts? {
        get { rare?.value.timeouts }
        set { change { $0.timeouts = newValue } }
    }
    /// The priority among waiting requests.
    public var priority: RequestPriority = .normal
    /// Whether the request may use a mobile connection.
    public var allowsCellularAccess = true
    /// The retry policy; `nil` uses the configuration's.
    public var retryPolicy: RetryPolicy? {
        get { rare?.value.retryPolicy }
        set { change { $0.retryPolicy = newValue } }
    }
    /// The behaviour while an identical request is in progress.
    public var duplicatePolicy: DuplicatePolicy = .allow
    /// The redirect policy; `nil` uses the configuration's.
    public var redirectPolicy: RedirectPolicy? {
        get { rare?.value.redirectPolicy }
        set { change { $0.redirectPolicy = newValue } }
    }
    /// The server trust policy; `nil` uses the configuration's.
    public var securityPolicy: SecurityPolicy? {
        get { rare?.value.securityPolicy }
        set { change { $0.securityPolicy = newValue } }
    }
    /// See `BaseRequest.transportOverrides`.
    public var transportOverrides: TransportOverrides? {
        get { rare?.value.transportOverrides }
        set { change { $0.transportOverrides = newValue } }
    }
    /// Whether cookies are sent and stored.
    public var usesCookies = true
    /// Whether the configuration's authenticators add credentials.
    public var usesAuthenticators = true
    /// The connectivity policy; `nil` uses the configuration's.
    public var connectivityPolicy: ConnectivityPolicy?

    /// The expected format of the response body.
    public var responseSerializer: ResponseSerializer = .json
    /// The status codes that are a success.
    public var acceptableStatusCodes: Range<Int> = 200..<300
    /// Decides which status codes are a success, instead of ``acceptableStatusCodes``.
    public var statusCodeValidator: StatusCodeValidator? {
        get { rare?.value.statusCodeValidator }
        set { change { $0.statusCodeValidator = newValue } }
    }
    /// The content types that are a success.
    public var acceptableContentTypes: AcceptableContentTypes = .automatic
    /// The required shape of the JSON body.
    public var validator: JSONShape?
    /// Rules of the service for responses, applied in order; the first rejection counts.
    public var businessValidators: [BusinessValidator] = []
    /// Whether null members and items are removed from the JSON after validation.
    public var removesNulls = false
    /// Decodes the body of a failed response into the error.
    public var errorDecoder: ErrorDecoder? {
        get { rare?.value.errorDecoder }
        set { change { $0.errorDecoder = newValue } }
    }
    /// The endpoint's processors, applied after validation.
    public var processors: [any ResponseProcessor] = []

    /// The freshness lifetime of a stored response, in seconds; negative means no caching.
    public var cacheSeconds = -1
    /// The version of stored entries; others are not used.
    public var cacheVersion = 0
    /// The cache policy; `nil` uses the configuration's.
    public var cachePolicy: CachePolicy?
    /// The user whose data the response is; entries of another identity are not used.
    public var cacheIdentity: String? {
        get { rare?.value.cacheIdentity }
        set { change { $0.cacheIdentity = newValue } }
    }
    /// The arguments that form the cache key, without nonces and timestamps; `nil` uses all.
    public var cacheArguments: Arguments? {
        get { rare?.value.cacheArguments }
        set { change { $0.cacheArguments = newValue } }
    }
    /// Whether the response is delivered before the store write completes.
    public var writesCacheAsynchronously = true
    /// Whether this run does not read the store; the response is stored nevertheless.
    public var ignoresCache = false

    /// A number for limits, filters and cancellation.
    public var tag = 0
    /// Additional values attached by the user.
    public var userInfo: [String: any Sendable] = [:]
    /// Receives progress on any thread, at most every 100 ms, and the last value before the end.
    public var progressHandler: (@Sendable (TransferProgress) -> Void)?
    /// Decodes the typed output; runs in the pipeline, off the main actor.
    package var decode:
        (@Sendable (Response, FastJSONDecoder) throws(RequestError) -> any Sendable)?
    /// A mistake in the endpoint, which ends the request before anything is sent.
    package var mistake: RequestError?
    /// The decoder of ``Response/decode(_:decoder:)``; `nil` has no strategies.
    package var jsonDecoder: Shared<FastJSONDecoder>?
    /// Whether the configuration's URL filters were already applied, as for an outbox entry.
    package var isURLFiltered = false
    /// Whether the body is read while it arrives.
    package var isStreamed = false
    /// Whether this is a background revalidation of a stored response.
    package var isBackgroundRevalidation = false
    /// The download plan; `nil` if the response is kept in memory.
    public var download: DownloadPlan? {
        get { rare?.value.download }
        set { change { $0.download = newValue } }
    }
    /// Whether there is a download plan, without a copy of it.
    @inline(__always) package var isDownload: Bool { rare != nil && download != nil }

    /// Rarely used and large members in a box, because a description is moved and destroyed for each request.
    private struct Rare: Sendable {
        var interceptors: [any Interceptor] = []
        var requestProcessors: [any RequestProcessor] = []
        var retryDecider: RetryDecider?
        var metadata = RequestMetadata()
        var jsonEncoder: FastJSONEncoder?
        var onAdapted: (@Sendable (URI) -> Void)?
        var argumentEncoding: ArgumentEncoding?
        var bodyEncoder: (any BodyEncoder)?
        var authorization: Authorization?
        var customRequest: CustomRequest?
        var retryPolicy: RetryPolicy?
        var redirectPolicy: RedirectPolicy?
        var securityPolicy: SecurityPolicy?
        var transportOverrides: TransportOverrides?
        var download: DownloadPlan?
        var maximumStaleness: Duration?
        var responseToStore: (@Sendable (Response) -> Response?)?
        var cdnURL: EndpointURL?
        var apiVersion: String?
        var bandwidth: BandwidthLimit?
        var timeouts: Timeouts?
        var statusCodeValidator: StatusCodeValidator?
        var errorDecoder: ErrorDecoder?
        var cacheIdentity: String?
        var cacheArguments: Arguments?
    }
    private var rare: CopyOnWrite<Rare>?

    /// The endpoint's interceptors, inside those of the configuration.
    public var interceptors: [any Interceptor] {
        get { rare?.value.interceptors ?? [] }
        set { change { $0.interceptors = newValue } }
    }
    /// The endpoint's processors of the final request, applied after those of the configuration.
    public var requestProcessors: [any RequestProcessor] {
        get { rare?.value.requestProcessors ?? [] }
        set { change { $0.requestProcessors = newValue } }
    }
    /// Decides about failed attempts before ``Configuration/retryDecider`` and the policy do.
    public var retryDecider: RetryDecider? {
        get { rare?.value.retryDecider }
        set { change { $0.retryDecider = newValue } }
    }
    /// Typed values attached by the user, visible on the task and its events.
    public var metadata: RequestMetadata {
        get { rare?.value.metadata ?? RequestMetadata() }
        set { change { $0.metadata = newValue } }
    }

    /// Encodes values in body and arguments; `nil` uses the configuration's.
    public var jsonEncoder: FastJSONEncoder? {
        get { rare?.value.jsonEncoder }
        set { change { $0.jsonEncoder = newValue } }
    }

    /// How long after its lifetime a stored response is used without the network.
    public var maximumStaleness: Duration? {
        get { rare?.value.maximumStaleness }
        set { change { $0.maximumStaleness = newValue } }
    }
    /// Changes the response before it is stored; `nil` from the closure stores nothing.
    public var responseToStore: (@Sendable (Response) -> Response?)? {
        get { rare?.value.responseToStore }
        set { change { $0.responseToStore = newValue } }
    }

    /// Called with the URL of the request, before redirects.
    package var onAdapted: (@Sendable (URI) -> Void)? {
        get { rare?.value.onAdapted }
        set { change { $0.onAdapted = newValue } }
    }

    private mutating func change(_ change: (inout Rare) -> Void) {
        if rare == nil { rare = CopyOnWrite(Rare()) }
        rare?.change(change)
    }

    /// Whether the cache key is needed.
    package var needsKey: Bool {
        cacheSeconds >= 0 || duplicatePolicy != .allow || cachePolicy != nil
    }

    /// Whether building the request is cheap and calls no user code.
    @inline(__always) package var isCheapToBuild: Bool {  // decision 24
        guard method == .get || method == .head || method == .delete else { return false }
        return arguments == nil && body == nil && customRequest == nil && !isDownload
            && progressHandler == nil && errorDecoder == nil && !needsKey
    }

    /// Creates a description with defaults.
    public init(endpoint: String, url: EndpointURL) {
        self.endpoint = endpoint
        self.url = url
    }
}

extension RequestDescription: CustomStringConvertible, CustomReflectable {
    /// No children, because headers, arguments and the body contain secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// The endpoint, the method, and the URL without query.
    public var description: String {
        let address = customRequest?.url ?? url
        return "\(endpoint): \(customRequest?.method ?? method) \(address.redacted)"
    }
}

extension RequestDescription {
    /// Whether the status is a success: decided by the validator if set, otherwise by the range.
    package func acceptsStatus(_ status: Int) -> Bool {
        statusCodeValidator?.accepts(status) ?? acceptableStatusCodes.contains(status)
    }
}
