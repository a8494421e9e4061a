public import ErrandCore

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension RequestDescription {
    /// Sends a `URLRequest` in place of URL, method, arguments, headers and body.
    ///
    ///     override func configure(_ request: inout RequestDescription) {
    ///         super.configure(&request)
    ///         request.use(signedURLRequest)
    ///     }
    ///
    /// ``authorization``, validation, hooks, cache, retries and progress apply; shared headers and arguments do not. Its
    /// `timeoutInterval`, unless it is Foundation's 60 seconds, is the idle limit if ``timeouts`` is `nil`. The cache
    /// policies that ignore stored data, `allowsCellularAccess` and `httpShouldHandleCookies` apply. A body stream is read
    /// up to 256 MiB at once. Errors, at the start: ``RequestError/Code/invalidCombination`` beside a setting that it
    /// replaces, and for other cache policies; ``RequestError/Code/unsupported`` for `networkServiceType`;
    /// ``RequestError/Code/bodyReadFailed`` for a stream that cannot be read, is too large, or was read before: use a new
    /// stream for each start.
    nonisolated public mutating func use(_ request: URLRequest) {
        customRequest = CustomRequest(request)
        if !request.httpShouldHandleCookies { uses.remove(.cookies) }
        if !request.allowsCellularAccess { uses.remove(.cellular) }
        useCachePolicy(of: request)
        // 60 seconds is Foundation's default: the value was not set.
        let idle = request.timeoutInterval
        if timeouts == nil, idle != 60, idle > 0, idle < 1e9 {
            timeouts = Timeouts(idle: .milliseconds(Int64((idle * 1000).rounded(.up))))
        }
        if let setting = Self.unsupportedSetting(of: request) {
            mistake = RequestError(
                .unsupported, stage: .build, "The URLRequest of \(endpoint) sets \(setting)")
        }
    }

    /// A setting of a `URLRequest` that no transport applies to one request.
    nonisolated private static func unsupportedSetting(of request: URLRequest) -> String? {
        if request.networkServiceType != .default {
            return
                "networkServiceType, which no transport applies to one request. Remove it. On Apple platforms, the "
                + "URLSessionConfiguration of a URLSessionTransport sets it for all requests of an agent."
        }
        #if !canImport(FoundationNetworking)
            if !request.allowsExpensiveNetworkAccess || !request.allowsConstrainedNetworkAccess {
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
    nonisolated private mutating func useCachePolicy(of request: URLRequest) {
        switch request.cachePolicy {
        case .useProtocolCachePolicy: break
        case .reloadIgnoringLocalCacheData: ignoresCache = true
        case .reloadIgnoringLocalAndRemoteCacheData:
            ignoresCache = true
            let hasOwn = customRequest?.headers.contains {
                $0.name.lowercasedASCII() == "cache-control"
            }
            if hasOwn == false { customRequest?.headers.append(("Cache-Control", "no-cache")) }
        default:
            mistake = RequestError(
                .invalidCombination, stage: .build,
                "The URLRequest of \(endpoint) has a cachePolicy that reads stored data. Set cache.policy and "
                    + "cacheSeconds instead.")
        }
    }
}
