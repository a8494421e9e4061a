public import ErrandJSON

/// A request without a class of its own, for a single use.
///
///     let request = InlineRequest("https://example.com/users") {
///         $0.method = .post
///         $0.arguments = ["name": "a"]
///     }
///     let response = try await request.send()
///     let user = try await InlineRequest("/users/7").decoding(User.self).value()
nonisolated public final class InlineRequest: BaseRequest, TypedUnit {
    private var values: RequestDescription

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: An absolute URL, or a path below the base URL.
    ///   - agent: The agent that performs the request. Default `nil`: ``RequestAgent/shared``, or the agent at the call.
    ///   - configure: Sets what overrides and ``BaseRequest/configure(_:)`` of a subclass would set.
    public init(
        _ url: EndpointURL, agent: RequestAgent? = nil,
        _ configure: (inout RequestDescription) -> Void = { _ in }
    ) {
        values = RequestDescription(endpoint: "InlineRequest", url: url)
        configure(&values)
        super.init()
        assignedAgent = agent
        tag = values.tag
        metadata = values.metadata
        ignoresCache = values.ignoresCache
    }

    /// The URL given to the initializer.
    public override var url: EndpointURL { values.url }
    /// The method set by the closure.
    public override var method: HTTPMethod { values.method }
    /// The arguments set by the closure.
    public override var arguments: Arguments? { values.arguments }

    /// Returns a request for the JSON of the response as a `Decodable` type.
    ///
    /// - Parameters:
    ///   - type: The type of the output.
    ///   - path: The keys that lead to the output, for services that wrap it: `["data"]`. Default `nil`: `json.path`.
    ///   - decoder: Key, date and data strategies. Default `nil`: those of ``RequestDescription/json``.
    public func decoding<Output: Decodable & Sendable>(
        _ type: Output.Type = Output.self, at path: [String]? = nil, decoder: JSONReader? = nil
    ) -> some TypedRequest<Output> {
        decoding(using: .json(type, decoder: decoder, at: path))
    }

    /// Returns a request whose output a decoder makes.
    ///
    /// It takes over the settings, the accessories and the delegate of this request, as they are now. Errors:
    /// ``RequestError/Code/invalidCombination`` for a download, before anything is sent.
    ///
    /// - Parameter decoder: `.string`, `.propertyList(…)`, `.xml { … }`, `.firstOf([…])`, or a closure.
    public func decoding<Output: Sendable>(
        using decoder: ResponseDecoder<Output>
    ) -> some TypedRequest<Output> {
        DecodedInlineRequest(self, decoder)
    }

    /// The response of the last run; `nil` before it, and after a failure.
    public var output: Response? { error == nil ? response : nil }

    /// The response or the error of the last run; `nil` before it.
    public var outputResult: Result<Response, RequestError>? { result }

    override func startDescription(_ it: inout RequestDescription) {
        it = values
        it.endpointType = ObjectIdentifier(InlineRequest.self)
    }

    /// All values are known before the start, unlike the overrides of a subclass.
    override func name(_ error: inout RequestError, _ configuration: Configuration) {
        error.name(values, configuration)
    }
}

/// An inline request with a typed output.
nonisolated private final class DecodedInlineRequest<Output: Sendable>: BaseRequest, TypedRequest {
    private let inline: InlineRequest
    private let ownDecoder: ResponseDecoder<Output>

    init(_ inline: InlineRequest, _ decoder: ResponseDecoder<Output>) {
        self.inline = inline
        ownDecoder = decoder
        super.init()
        tag = inline.tag
        metadata = inline.metadata
        ignoresCache = inline.ignoresCache
        accessories = inline.accessories
        delegate = inline.delegate
        assignedAgent = inline.assignedAgent
    }

    override var url: EndpointURL { inline.url }
    override var method: HTTPMethod { inline.method }
    override var arguments: Arguments? { inline.arguments }
    var decoder: ResponseDecoder<Output> { ownDecoder }

    override func name(_ error: inout RequestError, _ configuration: Configuration) {
        inline.name(&error, configuration)
    }

    override func startDescription(_ it: inout RequestDescription) {
        inline.startDescription(&it)
        if it.download != nil {
            it.mistake = RequestError(
                .invalidCombination, stage: .build,
                "A download has no decoded output. Send the InlineRequest itself, and read the file of its response."
            )
        }
    }
}
