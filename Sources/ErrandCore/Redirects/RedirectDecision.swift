package import ErrandHTTP
package import HTTPTypes

/// Decides what happens with a response of status 300 to 399 (RFC 9110 §15.4); a pure function.
package enum RedirectDecision: Sendable {
    /// Deliver it.
    case deliver
    /// Send this request.
    case follow(TransportRequest)
    /// Fail: the redirect must not be followed.
    case fail(RequestError)

    package static func decide(
        response: Response, request: TransportRequest, visited: [HTTPURL], policy: RedirectPolicy
    ) -> RedirectDecision {
        guard [301, 302, 303, 307, 308].contains(response.status.code),
            let location = response.headers.receivedReferences(.location).first,
            policy.maximumCount > 0
        else { return .deliver }
        guard visited.count <= policy.maximumCount else {
            return fail(
                .tooManyRedirects, response,
                "More than \(policy.maximumCount) redirects. Increase redirectPolicy.maximumCount if that is expected."
            )
        }
        var target: HTTPURL
        do {
            target = try HTTPURL.resolve(location, against: request.url)
        } catch {
            return fail(
                .unsafeRedirect, response,
                "The server redirects to an invalid URL. Correct its Location header, or use redirectPolicy .none to "
                    + "receive the 3xx."
            )
        }
        target.fragment = nil
        target.userInfo = nil
        if let fault = fault(in: target, response, request, visited, policy) { return fault }
        var next = request
        next.url = target
        rewriteMethod(of: &next, status: response.status.code)
        if target.origin != request.url.origin {
            let names = request.options.secretNames
            next.headers = HTTPFields(
                next.headers.filter { !names.isSecret(header: $0.name.rawName) })
            next.body?.withholdSecretTrailers(
                of: request.body, request.options.secretNames)
        }
        return .follow(next)
    }

    /// The final decision: fails if the redirect needs a consumed body that is not replayable.
    ///
    /// Called after the decider, which may have replaced the body.
    package func checked(_ response: Response) -> RedirectDecision {
        guard case .follow(let next) = self, next.body?.isConsumed == true else { return self }
        return Self.fail(
            .bodyNotReplayable, response,
            "The server redirects with \(response.status.code), but the body stream is not replayable "
                + "and was already consumed. Use a replayable body, or send the request to the final URL."
        )
    }

    /// The decision for a request that a decider sends instead of the proposed one.
    ///
    /// - Parameter request: The redirected request, on which the decider may have based its own.
    package static func replacing(
        by wanted: TransportRequest, response: Response, request: TransportRequest,
        visited: [HTTPURL], policy: RedirectPolicy
    ) -> RedirectDecision {
        if !wanted.url.isValid, let problem = wanted.url.problem {
            return fail(
                .invalidURL, response,
                "The redirectDecider returned a request that cannot be sent. \(problem)")
        }
        var next = wanted
        next.url.fragment = nil
        next.url.userInfo = nil
        if let fault = fault(in: next.url, response, request, visited, policy) { return fault }
        if next.url.origin != request.url.origin {
            // Credentials for the previous origin; the proposed request does not have them.
            next.headers = headers(of: next, withoutCredentialsOf: request, bound: [])
            next.body?.withholdSecretTrailers(
                of: request.body, request.options.secretNames)
        }
        next.options.mayReplay = next.options.mayReplay && next.method.isIdempotent
        return .follow(next)
    }

    /// The headers of a request for another origin than the original's, without the credentials
    /// and the bound headers that were copied from the original.
    package static func headers(
        of request: TransportRequest, withoutCredentialsOf original: TransportRequest,
        bound: Set<HTTPField.Name>
    ) -> HTTPFields {
        let names = original.options.secretNames
        return HTTPFields(
            request.headers.filter { field in
                let isBound =
                    names.isSecret(header: field.name.rawName)
                    || bound.contains(field.name)
                return !isBound
                    || !(original.headers[values: field.name].contains(field.value)
                        || original.headers[field.name] == field.value)
            })
    }

    /// The reason why a URL must not be followed, if there is one.
    private static func fault(
        in target: HTTPURL, _ response: Response, _ request: TransportRequest, _ visited: [HTTPURL],
        _ policy: RedirectPolicy
    ) -> RedirectDecision? {
        if target.scheme == "http" || target.scheme == "https", target.host?.isEmpty != false {
            return fail(
                .unsafeRedirect, response,
                "The server redirects to a URL without a host. Correct its Location header, or use redirectPolicy "
                    + ".none to receive the 3xx."
            )
        }
        guard target.isAbsoluteHTTP else {
            return fail(
                .unsafeRedirect, response,
                "The server redirects to the scheme \(target.scheme ?? "none"); only http and https are followed. "
                    + "Check its Location, or set redirectPolicy to .none."
            )
        }
        if request.url.scheme == "https", target.scheme == "http", !policy.allowsDowngrade {
            return fail(
                .unsafeRedirect, response,
                "The server redirects from https to http. Set redirectPolicy.allowsDowngrade if that is acceptable."
            )
        }
        // Two visits are not a loop: a page may redirect back after it set a cookie or accepted a
        // POST.
        guard visited.count(where: { $0 == target }) < 2 else {
            return fail(
                .tooManyRedirects, response,
                "The redirects form a loop. The server may expect a cookie or a login; redirectPolicy .none delivers "
                    + "the first 3xx."
            )
        }
        return nil
    }

    /// The fragment of the target, otherwise of the previous URL (RFC 9110 §10.2.2).
    ///
    /// Fragments are not sent; requests have none.
    package static func fragment(after response: Response, inheriting inherited: String?) -> String?
    {
        guard let location = response.headers.receivedReferences(.location).first,
            let target = try? HTTPURL(parsing: location)
        else { return inherited }
        return target.fragment ?? inherited
    }

    /// 303 changes every method but HEAD to GET; 301 and 302 change only POST to GET.
    private static func rewriteMethod(of request: inout TransportRequest, status: Int) {
        let becomesGet =
            (status == 303 && request.method != .get && request.method != .head)
            || ((status == 301 || status == 302) && request.method == .post)
        guard becomesGet else { return }
        request.method = .get
        request.body = nil
        request.options.mayReplay = true
        // Removes the fields that describe the dropped body (RFC 9110 §15.4).
        request.headers = HTTPFields(
            request.headers.filter { !contentFields.contains($0.name.canonicalName) })
    }

    private static let contentFields: Set<String> = [
        "content-type", "content-encoding", "content-language", "content-location",
        "content-disposition", "content-md5", "content-digest", "repr-digest", "digest",
        "last-modified", "expect",
    ]

    private static func fail(
        _ code: RequestError.Code, _ response: Response, _ message: String
    ) -> RedirectDecision {
        .fail(RequestError(code, stage: .transport, message, response: response, attempts: 1))
    }
}
