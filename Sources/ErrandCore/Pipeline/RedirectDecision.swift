import HTTPTypes

/// What to do about an answer of 300 to 399 (RFC 9110 §15.4): a pure function.
package enum RedirectDecision: Sendable {
    /// It is the answer.
    case deliver
    /// Send this request in its place.
    case follow(TransportRequest)
    /// It must not be followed.
    case fail(RequestError)

    package static func decide(
        response: Response, request: TransportRequest, visited: [URI], policy: RedirectPolicy
    ) -> RedirectDecision {
        guard [301, 302, 303, 307, 308].contains(response.status.code),
            let location = response.headers[values: .location].first, policy.maximumCount > 0
        else { return .deliver }
        guard visited.count <= policy.maximumCount else {
            return fail(
                .tooManyRedirects, response,
                "More than \(policy.maximumCount) redirects in a row. Raise redirectPolicy's maximumCount if that is right."
            )
        }
        var target: URI
        do {
            target = try URI.resolve(location, against: request.url)
        } catch {
            return fail(.unsafeRedirect, response, "The server redirects to what is no URL.")
        }
        target.fragment = nil
        target.userInfo = nil
        if let fault = fault(in: target, response, request, visited, policy) { return fault }
        var next = request
        next.url = target
        rewriteMethod(of: &next, status: response.status.code)
        if target.origin != request.url.origin { removeCredentials(from: &next.headers) }
        return .follow(next)
    }

    /// What becomes of a request that a decider wants in place of the proposed one.
    ///
    /// - Parameter request: The one that was answered, which the decider may have begun with.
    package static func replacing(
        by wanted: TransportRequest, response: Response, request: TransportRequest,
        visited: [URI], policy: RedirectPolicy
    ) -> RedirectDecision {
        var next = wanted
        next.url.fragment = nil
        next.url.userInfo = nil
        if let fault = fault(in: next.url, response, request, visited, policy) { return fault }
        if next.url.origin != request.url.origin {
            // Put on for the address that is left; the proposed request has no others.
            next.headers = HTTPFields(
                next.headers.filter { field in
                    !SecretName.isSecret(header: field.name.canonicalName)
                        || !(request.headers[values: field.name].contains(field.value)
                            || request.headers[field.name] == field.value)
                })
        }
        next.options.mayReplay = next.options.mayReplay && next.method.isIdempotent
        return .follow(next)
    }

    /// Why an address must not be gone to.
    private static func fault(
        in target: URI, _ response: Response, _ request: TransportRequest, _ visited: [URI],
        _ policy: RedirectPolicy
    ) -> RedirectDecision? {
        if target.scheme == "http" || target.scheme == "https", target.host?.isEmpty != false {
            return fail(
                .unsafeRedirect, response, "The server redirects to an address without a host.")
        }
        guard target.isAbsoluteHTTP else {
            return fail(
                .unsafeRedirect, response,
                "The server redirects to the scheme \(target.scheme ?? "none"); only http and https are followed."
            )
        }
        if request.url.scheme == "https", target.scheme == "http", !policy.allowsDowngrade {
            return fail(
                .unsafeRedirect, response,
                "The server redirects from https to http. Set redirectPolicy's allowsDowngrade if that is right."
            )
        }
        // Twice is no circle yet: the way back from a page that sets a cookie, or that took a POST.
        guard visited.count(where: { $0 == target }) < 2 else {
            return fail(.tooManyRedirects, response, "The redirects run in a circle.")
        }
        return nil
    }

    /// The fragment of where a redirect leads: its own, else that of the address before it (RFC 9110 §10.2.2).
    ///
    /// It is nobody's business on the wire; requests have none.
    package static func fragment(after response: Response, inheriting inherited: String?) -> String?
    {
        guard let location = response.headers[values: .location].first,
            let target = try? URI(parsing: location)
        else { return inherited }
        return target.fragment ?? inherited
    }

    /// 303 turns everything but HEAD into GET; 301 and 302 turn POST into GET; 307 and 308 keep all.
    private static func rewriteMethod(of request: inout TransportRequest, status: Int) {
        let becomesGet =
            (status == 303 && request.method != .get && request.method != .head)
            || ((status == 301 || status == 302) && request.method == .post)
        guard becomesGet else { return }
        request.method = .get
        request.body = nil
        request.options.mayReplay = true
        // What describes the body that is left behind (RFC 9110 §15.4).
        request.headers = HTTPFields(
            request.headers.filter { !contentFields.contains($0.name.canonicalName) })
    }

    private static let contentFields: Set<String> = [
        "content-type", "content-encoding", "content-language", "content-location",
        "content-disposition", "content-md5", "content-digest", "repr-digest", "digest",
        "last-modified", "expect",
    ]

    /// Nothing that proves who the user is crosses an origin.
    private static func removeCredentials(from headers: inout HTTPFields) {
        headers = HTTPFields(
            headers.filter { !SecretName.isSecret(header: $0.name.canonicalName) })
    }

    private static func fail(
        _ code: RequestError.Code, _ response: Response, _ message: String
    ) -> RedirectDecision {
        .fail(RequestError(code, stage: .transport, message, response: response, attempts: 1))
    }
}
