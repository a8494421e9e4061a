import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension BaseRequest {
    /// Reads every override once.
    nonisolated func describeOverrides() -> RequestDescription {
        var it = RequestDescription(endpoint: EndpointName.of(type(of: self)), url: url)
        it.endpointType = ObjectIdentifier(type(of: self))
        describeWhereAndWhat(&it)
        describeHowAndResponse(&it)
        describeCustomRequest(&it)
        it.cacheSeconds = cacheSeconds
        it.cacheVersion = cacheVersion
        it.cachePolicy = cachePolicy
        it.cacheIdentity = cacheIdentity
        if it.needsKey {
            let counting = cacheArguments(it.arguments)
            if counting != it.arguments { it.cacheArguments = counting ?? Arguments() }
        }
        it.writesCacheAsynchronously = writesCacheAsynchronously
        it.ignoresCache = ignoresCache
        it.tag = tag
        it.progressHandler = progressHandler
        it.userInfo = userInfo
        return it
    }

    nonisolated private func describeWhereAndWhat(_ it: inout RequestDescription) {
        // Large members that are usually nil are not assigned: an assignment also destroys the old value.
        it.baseURL = baseURL
        it.cdnURL = cdnURL
        it.usesCDN = usesCDN
        it.apiVersion = apiVersion
        it.method = method
        it.arguments = arguments
        it.argumentPlacement = argumentPlacement
        it.requestSerializer = requestSerializer
        if let argumentEncoding { it.argumentEncoding = argumentEncoding }
        if let body { it.body = body }
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
        it.allowsCellularAccess = it.allowsCellularAccess && custom.allowsCellularAccess
        // 60 seconds is Foundation's default: the value was not set.
        let idle = custom.timeoutInterval
        if it.timeouts == nil, idle != 60, idle > 0, idle < 1e9 {
            it.timeouts = Timeouts(idle: .milliseconds(Int64((idle * 1000).rounded(.up))))
        }
    }

    nonisolated private func describeHowAndResponse(_ it: inout RequestDescription) {
        if let timeouts { it.timeouts = timeouts }
        it.priority = priority
        it.allowsCellularAccess = allowsCellularAccess
        if let retryPolicy { it.retryPolicy = retryPolicy }
        it.duplicatePolicy = duplicatePolicy
        if let redirectPolicy { it.redirectPolicy = redirectPolicy }
        if let securityPolicy { it.securityPolicy = securityPolicy }
        if let transportOverrides { it.transportOverrides = transportOverrides }
        it.usesCookies = usesCookies
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
    }
}
