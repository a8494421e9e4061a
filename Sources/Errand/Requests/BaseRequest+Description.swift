import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension BaseRequest {
    /// Reads every override once and returns the description that the agent performs.
    ///
    /// Sends nothing.
    nonisolated public final func describe() -> RequestDescription { makeDescription() }

    /// Reads every override once.
    nonisolated func describeOverrides() -> RequestDescription {
        let type = EndpointType.of(type(of: self))
        var it = RequestDescription(endpoint: type.name, url: url)
        describe(type, &it)
        return it
    }

    // A function of its own: otherwise the compiler copies the description when it is returned (decision 17).
    @inline(never)
    nonisolated private func describe(_ type: EndpointType, _ it: inout RequestDescription) {
        it.endpointType = type.id
        describeWhereAndWhat(&it)
        describeHowAndResponse(&it)
        describeCustomRequest(&it)
        it.cacheSeconds = cacheSeconds
        it.cacheVersion = cacheVersion
        it.cachePolicy = cachePolicy
        if let cacheIdentity { it.cacheIdentity = cacheIdentity }
        if it.needsKey {
            let counting = cacheArguments(it.arguments)
            if counting != it.arguments { it.cacheArguments = counting ?? Arguments() }
        }
        it.writesCacheAsynchronously = writesCacheAsynchronously
        if let maximumStaleness { it.maximumStaleness = maximumStaleness }
        if let responseToStore { it.responseToStore = responseToStore }
        if ignoresCache { it.ignoresCache = true }
        it.tag = tag
        it.progressHandler = progressHandler
        it.userInfo = userInfo
        if !metadata.isEmpty { it.metadata = metadata }
        type.describe?(self, &it)
        if sha256 != nil { checkDigest(&it) }
    }

    /// Refuses a digest of an endpoint that has no file.
    nonisolated private func checkDigest(_ it: inout RequestDescription) {
        guard it.download == nil else { return }
        it.mistake = RequestError(
            .invalidCombination, stage: .build,
            "\(it.endpoint) has a sha256 and is not a download. Conform it to FileOutput, or remove the digest."
        )
    }

    nonisolated private func describeWhereAndWhat(_ it: inout RequestDescription) {
        // Large members that are usually nil are not assigned: an assignment also destroys the old value.
        it.baseURL = baseURL
        if let cdnURL { it.cdnURL = cdnURL }
        it.usesCDN = usesCDN
        if let apiVersion { it.apiVersion = apiVersion }
        it.method = method
        it.arguments = arguments
        it.argumentPlacement = argumentPlacement
        it.requestSerializer = requestSerializer
        if let argumentEncoding { it.argumentEncoding = argumentEncoding }
        if let body { it.body = body }
        if let jsonEncoder { it.jsonEncoder = jsonEncoder }
        if let bodyEncoder { it.bodyEncoder = bodyEncoder }
        it.headers = headers
        it.headerFieldValues = headerFieldValues
        if let authorization { it.authorization = authorization }
        it.usesSharedHeaders = usesSharedHeaders
        it.usesSharedArguments = usesSharedArguments
    }

    /// Applies the timeout and the cellular access of a `URLRequest`, unless the endpoint sets them.
    nonisolated private func describeCustomRequest(_ it: inout RequestDescription) {
        guard let custom = customURLRequest() else { return }
        it.customRequest = CustomRequest(custom)
        it.usesCookies = it.usesCookies && custom.httpShouldHandleCookies
        describeCachePolicy(of: custom, &it)
        it.allowsCellularAccess = it.allowsCellularAccess && custom.allowsCellularAccess
        // 60 seconds is Foundation's default: the value was not set.
        let idle = custom.timeoutInterval
        if it.timeouts == nil, idle != 60, idle > 0, idle < 1e9 {
            it.timeouts = Timeouts(idle: .milliseconds(Int64((idle * 1000).rounded(.up))))
        }
        if let setting = unsupportedSetting(of: custom) {
            it.mistake = RequestError(
                .unsupported, stage: .build,
                "\(it.endpoint)'s customURLRequest() sets \(setting)")
        }
    }

    /// A setting of a `URLRequest` that no transport applies to one request.
    nonisolated private func unsupportedSetting(of custom: URLRequest) -> String? {
        if custom.networkServiceType != .default {
            return
                "networkServiceType, which no transport applies to one request. Remove it. On Apple platforms, the "
                + "URLSessionConfiguration of a URLSessionTransport sets it for all requests of an agent."
        }
        #if !canImport(FoundationNetworking)
            if !custom.allowsExpensiveNetworkAccess || !custom.allowsConstrainedNetworkAccess {
                return
                    "allowsExpensiveNetworkAccess or allowsConstrainedNetworkAccess, which Errand does not apply to one "
                    + "request. Set it in the URLSessionConfiguration of a URLSessionTransport, for all requests of an "
                    + "agent."
            }
        #endif
        return nil
    }

    /// Applies the cache policies of a `URLRequest` that ignore stored data; the others have no equivalent, since
    /// they use data of any age.
    nonisolated private func describeCachePolicy(
        of custom: URLRequest, _ it: inout RequestDescription
    ) {
        switch custom.cachePolicy {
        case .useProtocolCachePolicy: break
        case .reloadIgnoringLocalCacheData: it.ignoresCache = true
        case .reloadIgnoringLocalAndRemoteCacheData:
            it.ignoresCache = true
            let hasOwn = it.customRequest?.headers.contains {
                $0.name.lowercasedASCII() == "cache-control"
            }
            if hasOwn == false { it.customRequest?.headers.append(("Cache-Control", "no-cache")) }
        default:
            it.mistake = RequestError(
                .invalidCombination, stage: .build,
                "\(it.endpoint)'s customURLRequest() has a cachePolicy that reads stored data. Override "
                    + "cachePolicy and cacheSeconds instead.")
        }
    }

    nonisolated private func describeHowAndResponse(_ it: inout RequestDescription) {
        if let timeouts { it.timeouts = timeouts }
        it.priority = priority
        it.allowsCellularAccess = allowsCellularAccess
        if let retryPolicy { it.retryPolicy = retryPolicy }
        if let retryDecider { it.retryDecider = retryDecider }
        let interceptors = interceptors
        if !interceptors.isEmpty { it.interceptors = interceptors }
        let requestProcessors = requestProcessors
        if !requestProcessors.isEmpty { it.requestProcessors = requestProcessors }
        it.duplicatePolicy = duplicatePolicy
        if let redirectPolicy { it.redirectPolicy = redirectPolicy }
        if let securityPolicy { it.securityPolicy = securityPolicy }
        if let transportOverrides { it.transportOverrides = transportOverrides }
        it.usesCookies = usesCookies
        it.usesAuthenticators = usesAuthenticators
        if let connectivityPolicy { it.connectivityPolicy = connectivityPolicy }
        it.responseSerializer = responseSerializer
        it.acceptableStatusCodes = acceptableStatusCodes
        if let statusCodeValidator { it.statusCodeValidator = statusCodeValidator }
        it.acceptableContentTypes = acceptableContentTypes
        if let validator { it.validator = validator }
        if let businessValidator { it.businessValidators = [businessValidator] }
        it.removesNulls = removesNulls
        if let errorDecoder { it.errorDecoder = errorDecoder }
        it.processors = processors
        if let jsonDecoder { it.jsonDecoder = Shared(jsonDecoder) }
    }
}
