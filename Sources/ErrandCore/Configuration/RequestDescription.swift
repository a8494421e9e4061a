package import ErrandJSON
import ErrandSystem
package import ErrandTransport
public import HTTPTypes

/// Everything that one request sends and accepts: a value, made once for each start.
///
/// The members of the first part have the meaning and the default of the override of the same name on `BaseRequest`,
/// which sets them. `BaseRequest.configure(_:)`, the closure of `InlineRequest` and ``Configuration/prepare`` set the
/// others.
public struct RequestDescription: Sendable {
    // MARK: - Overrides

    /// A path below the base URL, or an absolute URL.
    public var url: EndpointURL
    /// Replaces the configuration's base URL.
    public var baseURL: EndpointURL?
    /// Whether the CDN URL is the base.
    public var usesCDN = false
    /// The method.
    public var method: HTTPMethod = .get
    /// The arguments.
    public var arguments: Arguments?
    /// The format of a body made from arguments.
    public var requestSerializer: RequestSerializer = .form
    /// The body, instead of one made from arguments.
    public var body: HTTPBody?
    /// Headers of this request.
    public var headers = HTTPFields()
    /// The timeouts; `nil` uses the configuration's.
    public var timeouts: Timeouts? {
        get { box?.value.timeouts }
        _modify { yield &rare.timeouts }
    }
    /// The retry policy; `nil` uses the configuration's.
    public var retryPolicy: RetryPolicy? {
        get { box?.value.retryPolicy }
        _modify { yield &rare.retryPolicy }
    }
    /// The freshness lifetime of a stored response, in seconds; zero or less stores nothing.
    public var cacheSeconds = 0
    /// The version of stored entries; others are not used.
    public var cacheVersion = 0
    /// The required shape of the JSON body.
    public var validator: JSONShape?
    /// Decodes the body of a failed response into the error.
    public var errorDecoder: ErrorDecoder? {
        get { box?.value.errorDecoder }
        _modify { yield &rare.errorDecoder }
    }

    // MARK: - Further settings

    /// The endpoint's type name.
    public var endpoint: String
    /// The CDN URL of this endpoint, for ``usesCDN``; `nil` uses the configuration's, or that of the environment.
    public var cdnURL: EndpointURL? {
        get { box?.value.cdnURL }
        _modify { yield &rare.cdnURL }
    }
    /// The version of the API, such as `v5`; `nil` uses ``Configuration/apiVersion``, an empty text none.
    ///
    /// A segment between base and path. An absolute ``url`` gets none.
    public var apiVersion: String? {
        get { box?.value.apiVersion }
        _modify { yield &rare.apiVersion }
    }
    /// Whether arguments go into the query or the body.
    ///
    /// Default ``Arguments/Placement/automatic``: the query for GET, HEAD and DELETE and beside a ``body`` that is not
    /// multipart, otherwise the body. Errors: ``RequestError/Code/invalidCombination`` for arguments that are placed
    /// into such a body.
    public var argumentPlacement: Arguments.Placement = .automatic
    /// The rules by which arguments are written in query, form and JSON.
    ///
    /// Default `nil`: ``Configuration/argumentEncoding``.
    public var encoding: ArgumentEncoding? {
        get { box?.value.encoding }
        _modify { yield &rare.encoding }
    }
    /// Compresses the body: `.gzip`, `.deflate`, or a ``BodyEncoder`` of your own.
    ///
    /// Default `nil`: ``Configuration/bodyEncoder``, which has none and ignores files and streams. Request processors
    /// see the compressed bytes. Errors: ``RequestError/Code/unsupported`` for a body not in memory, or without zlib.
    public var compression: (any BodyEncoder)? {
        get { box?.value.compression }
        _modify { yield &rare.compression }
    }
    /// Credentials that are sent with the first attempt.
    ///
    /// Default `nil`. They are not sent to another origin after a redirect. ``Configuration/authenticators`` provide
    /// credentials by host. Errors: ``RequestError/Code/invalidCombination`` with an `Authorization` header.
    public var authorization: Authorization? {
        get { box?.value.authorization }
        _modify { yield &rare.authorization }
    }
    /// The parts of the configuration that apply (default ``Uses/all``).
    public var uses = Uses.all
    /// A complete request that replaces URL, method, arguments, body and headers.
    ///
    /// Default `nil`. ``authorization``, validation, hooks, cache, retries and progress apply; shared headers and
    /// arguments do not. Errors: ``RequestError/Code/invalidCombination`` beside a setting that it replaces.
    public var customRequest: CustomRequest? {
        get { box?.value.customRequest }
        _modify { yield &rare.customRequest }
    }

    /// How JSON is written and read, and the place of the output.
    public var json: JSONOptions {
        get { box?.value.json ?? JSONOptions() }
        _modify { yield &rare.json }
    }
    /// How the request is sent.
    public var sending: SendingOptions {
        get { box?.value.sending ?? SendingOptions() }
        _modify { yield &rare.sending }
    }
    /// Which responses are a success.
    public var acceptance: Acceptance {
        get { box?.value.acceptance ?? Acceptance() }
        _modify { yield &rare.acceptance }
    }
    /// How the store is used, beside ``cacheSeconds`` and ``cacheVersion``.
    public var cache: CacheOptions {
        get { box?.value.cache ?? CacheOptions() }
        _modify { yield &rare.cache }
    }
    /// The file of a download; `nil` if the response is kept in memory.
    ///
    /// `FileOutput.download` sets it; the closure of an `InlineRequest` may as well.
    public var download: DownloadPlan? {
        get { box?.value.download }
        _modify { yield &rare.download }
    }

    /// Hooks around the whole request, inside those of ``Configuration/interceptors``; the outermost first.
    ///
    /// Default none. They run off the main actor, once per request. See <doc:ChoosingAHook>.
    public var interceptors: [any Interceptor] {
        get { box?.value.interceptors ?? [] }
        _modify { yield &rare.interceptors }
    }
    /// Steps that change the final request, run before each attempt, after ``Configuration/requestProcessors``.
    ///
    ///     request.requestProcessors.append { request, description, attempt in sign(&request) }
    ///
    /// Default none. Errors: ``RequestError/Code/adaptationFailed`` with the thrown error underlying.
    public var requestProcessors:
        [@Sendable (
            _ request: inout TransportRequest, _ description: RequestDescription, _ attempt: Int
        ) async throws -> Void]
    {
        get { box?.value.requestProcessors ?? [] }
        _modify { yield &rare.requestProcessors }
    }
    /// Steps after validation, such as decryption: they run off the main actor, also for stored responses.
    ///
    ///     request.responseProcessors.append { response in try unwrap(&response) }
    ///
    /// Default none. ``Configuration/responseProcessors`` run before them. Errors:
    /// ``RequestError/Code/processingFailed`` with the thrown error underlying; a thrown ``RequestError`` unchanged.
    public var responseProcessors: [@Sendable (_ response: inout Response) async throws -> Void] {
        get { box?.value.responseProcessors ?? [] }
        _modify { yield &rare.responseProcessors }
    }

    /// A number for limits, filters and cancellation.
    public var tag = 0
    /// Values of your choice, visible on the task and its events.
    public var metadata: RequestMetadata {
        get { box?.value.metadata ?? RequestMetadata() }
        _modify { yield &rare.metadata }
    }
    /// Whether this run does not read the store; the response is stored nevertheless.
    public var ignoresCache = false

    // MARK: - Set by the framework

    /// The endpoint's type, which unlike the name is unique; `nil` if there is no endpoint.
    package var endpointType: ObjectIdentifier?
    /// Decodes the typed output with a decoder and the keys that lead to it; runs in the pipeline, off the main actor.
    package var decode:
        (@Sendable (Response, JSONReader, [String]) throws(RequestError) -> any Sendable)?
    /// Whether the typed output is made from JSON.
    package var hasJSONOutput = false
    /// Whether `BaseRequest.configure(_:)` of the base class was called.
    package var reachedBaseClass = false
    /// A mistake in the endpoint, which ends the request before anything is sent.
    package var mistake: RequestError?
    /// The decoder of ``Response/decode(_:decoder:)``; `nil` is the default of ``JSONOptions``.
    package var jsonDecoder: Shared<JSONReader>?
    /// Whether ``Configuration/prepare`` was applied, or must not be, as for an outbox entry.
    package var isPrepared = false
    /// Whether the body is read while it arrives.
    package var isStreamed = false
    /// Whether this is a background revalidation of a stored response.
    package var isBackgroundRevalidation = false
    /// Takes the connection over after 101, the only response that is a success then, and reads nothing from the store.
    package var upgrade: (any ConnectionUpgrade)?
    /// The bandwidth limit of the transfers of this request.
    package var bandwidth: BandwidthLimit? {
        get { box?.value.bandwidth }
        _modify { yield &rare.bandwidth }
    }
    /// Called with the URL of the request, before redirects.
    package var onAdapted: (@Sendable (HTTPURL) -> Void)? {
        get { box?.value.onAdapted }
        _modify { yield &rare.onAdapted }
    }

    /// Rarely used and large members in a box, because a description is moved and destroyed for each request.
    private struct Rare: Sendable {
        var timeouts: Timeouts?
        var retryPolicy: RetryPolicy?
        var errorDecoder: ErrorDecoder?
        var cdnURL: EndpointURL?
        var apiVersion: String?
        var encoding: ArgumentEncoding?
        var compression: (any BodyEncoder)?
        var authorization: Authorization?
        var customRequest: CustomRequest?
        var json = JSONOptions()
        var sending = SendingOptions()
        var acceptance = Acceptance()
        var cache = CacheOptions()
        var download: DownloadPlan?
        var interceptors: [any Interceptor] = []
        var requestProcessors:
            [@Sendable (inout TransportRequest, RequestDescription, Int) async throws -> Void] = []
        var responseProcessors: [@Sendable (inout Response) async throws -> Void] = []
        var metadata = RequestMetadata()
        var bandwidth: BandwidthLimit?
        var onAdapted: (@Sendable (HTTPURL) -> Void)?
    }
    private var box: CopyOnWrite<Rare>?
    /// The members of the box for a change in place.
    private var rare: Rare {
        get { box?.value ?? Rare() }
        _modify {
            var own = exchange(&box, with: nil) ?? CopyOnWrite(Rare())
            defer { box = own }
            yield &own.value
        }
    }

    /// Whether a member in the box was set.
    @inline(__always) package var hasRareMembers: Bool { box != nil }

    /// Creates a description with defaults.
    public init(endpoint: String, url: EndpointURL) {
        self.endpoint = endpoint
        self.url = url
    }
}

extension RequestDescription {
    /// Whether there is a download plan, without a copy of it.
    @inline(__always) package var isDownload: Bool { hasRareMembers && download != nil }

    /// Whether the cache key is needed.
    ///
    /// Own arguments of the key count under the policy of the configuration, too.
    package var needsKey: Bool {
        cacheSeconds > 0
            || hasRareMembers
                && (sending.duplicates != .allow || cache.policy != nil
                    || cache.arguments != nil)
    }

    /// Whether the key of the whole request is needed: ``CachePolicy/http`` has keys of its own.
    var needsRequestKey: Bool {
        cacheSeconds > 0
            || hasRareMembers
                && (sending.duplicates != .allow || cache.policy.map { !$0.isHTTP } ?? false)
    }

    /// Whether building the request is cheap and calls no user code.
    @inline(__always) package var isCheapToBuild: Bool {  // decision 24
        guard method == .get || method == .head || method == .delete else { return false }
        return arguments == nil && body == nil && !needsKey
            && (!hasRareMembers || customRequest == nil && !isDownload && errorDecoder == nil)
    }

    /// Whether no setting of the request concerns an ``OptionalStep``.
    var isPlain: Bool {
        !hasRareMembers && upgrade == nil && cacheSeconds <= 0
            && (method == .get || method == .head)
    }

    /// Whether the request for the wire depends on the URL and the configuration alone.
    var isURLAlone: Bool {
        isPlain && method == .get && arguments == nil && body == nil && validator == nil
            && headers.isEmpty && uses == .all && baseURL == nil && !usesCDN && !isStreamed
            && mistake == nil && url.fault == nil
    }

    /// The cache policy that counts before the configuration's, without a copy of the options.
    package var ownCachePolicy: CachePolicy? {
        upgrade == nil ? box.flatMap { $0.value.cache.policy } : .reload
    }

    /// Whether the status is a success.
    package func acceptsStatus(_ status: Int) -> Bool {
        if upgrade != nil { return status == 101 }
        return hasRareMembers
            ? acceptance.statuses.contains(status) : (200..<300).contains(status)
    }

    /// The format that a body must have: that of ``Acceptance/format``, where `.automatic` is JSON or any.
    package var requiredFormat: Acceptance.Format {
        guard hasRareMembers else { return automaticFormat }
        if case .automatic = acceptance.format { return automaticFormat }
        return acceptance.format
    }

    private var automaticFormat: Acceptance.Format {
        (validator != nil || hasJSONOutput) && !isDownload ? .json : .any
    }

    /// Applies ``Configuration/prepare``, once.
    @inline(__always) package mutating func prepare(by configuration: Configuration) {
        guard let prepare = configuration.prepare, !isPrepared else { return }
        isPrepared = true
        prepare(&self)
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
