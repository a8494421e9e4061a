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
