import ErrandCore
import ErrandSystem

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
/// are read once per start, by ``makeDescription()``, on the caller's side: keep them cheap and free of side effects.
/// ``configure(_:)`` sets everything that has no override of its own. A request may be started again, also in its own
/// callback; each start is a ``RequestTask`` of its own. See <doc:GettingStarted>.
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
    /// Errors: ``RequestError/Code/invalidURL``, also for a value that would lead to another endpoint;
    /// ``RequestError/Code/noBaseURL``. See <doc:URLs>.
    open var url: EndpointURL { "" }
    /// The base URL of this endpoint.
    ///
    /// Default `nil`, like an empty string: the environment's, otherwise ``Configuration/baseURL``. With ``usesCDN``,
    /// a CDN URL takes precedence.
    open var baseURL: EndpointURL? { nil }
    /// Whether the CDN URL is the base URL.
    ///
    /// Default false. Without a CDN URL the base URL is used.
    open var usesCDN: Bool { false }
    /// The agent that performs the request; an agent at the call, such as `request.send(on: agent)`, takes precedence.
    ///
    /// Default ``RequestAgent/shared``. Override it once, in the base class of a service.
    open var agent: RequestAgent { assignedAgent ?? .shared }

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
    /// The format of a body made from arguments.
    ///
    /// Default ``RequestSerializer/form``, which sends an empty body for POST, PUT and PATCH without arguments;
    /// JSON and property lists then send none. In the query, arguments are always written as a form.
    open var requestSerializer: RequestSerializer { .form }
    /// A body in place of one made from arguments: a value as JSON, bytes, text, a file, a stream, or parts.
    ///
    /// Default `nil`. Errors: ``RequestError/Code/invalidBody`` for a value that cannot be encoded and for a missing
    /// file, ``RequestError/Code/invalidCombination`` with HEAD and TRACE and for parts with GET,
    /// ``RequestError/Code/bodyNotReplayable`` for a redirect that needs a consumed stream again. See
    /// <doc:ArgumentsAndBodies>.
    open var body: HTTPBody? { nil }
    /// The headers of this request.
    ///
    /// Default none. They take precedence over shared headers (``Configuration/sharedHeaders``, `headerProvider`,
    /// `hostHeaders`), except ``Configuration/fixedHeaderNames``. `Host`, `Content-Length` and `Transfer-Encoding`
    /// belong to the transport. A `Content-Type` replaces that of the body; the boundary of a multipart body is added.
    /// A download sends its own `Accept-Encoding`. Errors: ``RequestError/Code/invalidHeader``, also for a
    /// `Content-Type` that a multipart body cannot have; ``RequestError/Code/invalidCombination`` for `Range` and
    /// `If-Range` of a download.
    open var headers: HTTPFields { HTTPFields() }

    // MARK: - Sending

    /// The time limits: connect, idle (the longest silence) and total.
    ///
    /// Default `nil`: ``Configuration/timeouts``, which is 30 s, 60 s and no limit. Errors:
    /// ``RequestError/Code/timedOut``, ``RequestError/Code/invalidConfiguration`` for a limit of zero or less.
    open var timeouts: Timeouts? { nil }
    /// How failed attempts are retried.
    ///
    /// Default `nil`: ``Configuration/retryPolicy``, which makes one attempt. See <doc:RetriesAndLimits>.
    open var retryPolicy: RetryPolicy? { nil }

    // MARK: - Response

    /// The shape that the JSON of the response must have, from the network and from the store.
    ///
    /// Default `nil`: any. Errors: ``RequestError/Code/shapeMismatch`` with ``RequestError/shapeFault``;
    /// ``RequestError/Code/invalidValidator`` for a shape that can never match;
    /// ``RequestError/Code/invalidCombination`` for a download, and for a format without JSON. See
    /// <doc:Validation>.
    open var validator: JSONShape? { nil }
    /// Decodes the body of a failed response into ``RequestError/body``.
    ///
    /// Default `nil`: ``Configuration/errorDecoder``, which has none.
    open var errorDecoder: ErrorDecoder? { nil }

    // MARK: - Cache

    /// How long a response stays fresh, in seconds.
    ///
    /// Default 0: no caching; a negative number is the same. No effect with ``CachePolicy/http``, and on downloads, which
    /// are never stored. See <doc:Caching>.
    open var cacheSeconds: Int { 0 }
    /// The version of stored responses; entries of another version are ignored.
    ///
    /// Default 0. Raise it when the meaning of the response changes. ``Configuration/appVersion`` does so for all
    /// endpoints. No effect on downloads.
    open var cacheVersion: Int { 0 }

    // MARK: - Everything else

    /// Changes the description of a start: sets everything that has no override of its own.
    ///
    ///     class HubRequest: BaseRequest {
    ///         override func configure(_ request: inout RequestDescription) {
    ///             super.configure(&request)
    ///             request.json.path = ["data"]
    ///             request.acceptance.rules.append(envelope)
    ///             request.sending.security = pins
    ///         }
    ///     }
    ///
    /// Call `super` first: then the settings of the base class stay, lists add up, and a subclass changes single values.
    /// A start without the call in each class fails before anything is sent.
    ///
    /// Each setting is written once. First the overrides are read, so this method can use their values, such as
    /// `request.arguments`; a setting that has an override is set by that override, because this method would replace it
    /// for all subclasses. Then this method runs, and last ``Configuration/prepare`` of the agent, for all its endpoints.
    /// A setting that is still unset comes from the configuration. Errors: ``RequestError/Code/invalidConfiguration``
    /// without the call of `super`.
    open func configure(_ request: inout RequestDescription) { request.reachedBaseClass = true }

    // MARK: - Hooks, called on the actor of the request; `super` need not be called

    /// Called before the request is described.
    open func willStart() {}
    /// Called after a success, before the delegate and the closures.
    ///
    /// ``response`` is set, and `output` of a typed endpoint. To change the response, use
    /// ``RequestDescription/responseProcessors``.
    open func didFinish() {}
    /// Called after a failure or a cancellation, before the delegate and the closures.
    ///
    /// ``RequestUnit/error`` is set; ``RequestError/isCancellation`` distinguishes the two.
    open func didFail() {}

    // MARK: - Properties

    /// Values of your choice, by typed keys and by names, which the task and its events have, too; in addition to
    /// ``Configuration/metadata`` (default none).
    public var metadata = RequestMetadata()
    /// Whether the store is not read; the response is stored all the same (default false).
    ///
    /// No effect on downloads.
    @exclusivity(unchecked) public var ignoresCache = false

    /// The response of the last run; `nil` before it, and after a failure without a response.
    @exclusivity(unchecked) public internal(set) var response: Response?
    /// The response or the error of the last run; `nil` before it.
    public var result: Result<Response, RequestError>? {
        if let error { return .failure(error) }
        return response.map { .success($0) }
    }

    /// The agent given to the initializer of an ``InlineRequest``; it precedes that of an override.
    @exclusivity(unchecked) package var assignedAgent: RequestAgent?
    /// The output of the last run of a typed endpoint.
    @exclusivity(unchecked) var storedOutput: Shared<any Sendable>?
    /// Whether a batch, a chain or a graph in progress has the request as a member.
    @exclusivity(unchecked) var isMember = false
    @exclusivity(unchecked) var attachedSuccess: ((BaseRequest) -> Void)?
    @exclusivity(unchecked) var attachedProgress:
        (@MainActor (BaseRequest, TransferProgress) -> Void)?
    /// The progress of a run that the main actor awaits.
    @exclusivity(unchecked) var progressRelay: ProgressRelay?
    @exclusivity(unchecked) var attachedFailure: ((BaseRequest, RequestError) -> Void)?

    /// Reads the overrides into a description, before ``configure(_:)``.
    func startDescription(_ it: inout RequestDescription) { describeOverrides(&it) }

    /// Names the request in the error of a run that was not started; reads only `method`.
    func name(_ error: inout RequestError, _ configuration: Configuration) {
        error.name(endpoint: EndpointType.of(type(of: self)).name, method: method, url: nil)
    }

    // MARK: - Running

    @MainActor
    override func launch(
        on agent: RequestAgent?, owner: RequestOwner?, hearsStored: Bool,
        then deliver: @escaping @MainActor (RequestError?) -> Void
    ) -> RequestTask {
        launchRequest(on: agent, owner: owner, hearsStored: hearsStored, then: deliver)
    }

    nonisolated(nonsending) override func perform(
        on agent: RequestAgent?, _ onStart: (RequestTask) -> Void
    ) async -> RequestError? {
        let run = enlist(on: agent)
        if attachedProgress != nil { relayProgress(of: run.task, to: #isolation) }
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

extension BaseRequest {
    /// Reads every override once, calls ``configure(_:)``, and returns the description that the agent performs.
    ///
    /// Sends nothing.
    nonisolated public final func makeDescription() -> RequestDescription {
        let type = EndpointType.of(type(of: self))
        var it = RequestDescription(endpoint: type.name, url: "")
        describe(type, &it)
        return it
    }

    // A function of its own: otherwise the compiler copies the description when it is returned (decision 17).
    @inline(never)
    nonisolated private func describe(_ type: EndpointType, _ it: inout RequestDescription) {
        it.endpointType = type.id
        startDescription(&it)
        it.ignoresCache = ignoresCache
        it.tag = tag
        if !metadata.isEmpty || it.hasRareMembers { it.metadata = metadata }
        type.describe?(self, &it)
        configure(&it)
        if !it.reachedBaseClass { it.mistake = .missingSuper(in: it.endpoint) }
        type.complete?(self, &it)
    }

    /// Reads the flat overrides.
    nonisolated final func describeOverrides(_ it: inout RequestDescription) {
        // Large members that are usually nil are not assigned: an assignment also destroys the old value.
        it.url = url
        it.baseURL = baseURL
        it.usesCDN = usesCDN
        it.method = method
        it.arguments = arguments
        it.requestSerializer = requestSerializer
        if let body { it.body = body }
        it.headers = headers
        if let timeouts { it.timeouts = timeouts }
        if let retryPolicy { it.retryPolicy = retryPolicy }
        it.cacheSeconds = cacheSeconds
        it.cacheVersion = cacheVersion
        if let validator { it.validator = validator }
        if let errorDecoder { it.errorDecoder = errorDecoder }
    }
}

extension RequestError {
    nonisolated fileprivate static func missingSuper(in endpoint: String) -> RequestError {
        RequestError(
            .invalidConfiguration, stage: .build,
            "\(endpoint).configure(_:), or that of a superclass, does not call super.configure(_:), so settings of its "
                + "superclasses would be lost. Call it first.")
    }
}
