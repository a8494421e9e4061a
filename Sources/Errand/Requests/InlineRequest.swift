/// A request without a class of its own, for a single use.
///
///     let request = InlineRequest("https://example.com/users") {
///         $0.method = .post
///         $0.arguments = ["name": "a"]
///     }
///     let response = try await request.send()
nonisolated public final class InlineRequest: BaseRequest {
    private var values: RequestDescription

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: An absolute URL, or a path below the base URL.
    ///   - configure: Sets the members that a subclass would override, by the same names.
    public init(_ url: String, _ configure: (inout RequestDescription) -> Void = { _ in }) {
        values = RequestDescription(endpoint: "InlineRequest", url: url)
        configure(&values)
        super.init()
        tag = values.tag
        userInfo = values.userInfo
        ignoresCache = values.ignoresCache
        progressHandler = values.progressHandler
    }

    /// The URL given to the initializer.
    public override var url: String { values.url }
    /// The method set by the closure.
    public override var method: HTTPMethod { values.method }
    /// The arguments set by the closure.
    public override var arguments: Arguments? { values.arguments }

    package override func makeDescription() -> RequestDescription {
        var it = values
        it.endpointType = ObjectIdentifier(type(of: self))
        it.tag = tag
        it.userInfo = userInfo
        it.ignoresCache = ignoresCache
        it.progressHandler = progressHandler
        return it
    }
}
