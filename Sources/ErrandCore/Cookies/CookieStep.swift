import ErrandTransport
import HTTPTypes

/// Adds cookies to each request, and stores those of each response, including redirects and errors.
package final class CookieStep: Step {
    @inline(__always)  // decision 10
    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        let authorized = authorized(pipelineRequest)
        let response: Response
        do {
            response = try await next(authorized)
        } catch {
            keep(error.response, authorized)
            throw error
        }
        keep(response, authorized)
        return response
    }

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        Self.jar(of: pipelineRequest.context) != nil
    }

    @inline(never)  // decision 10
    private func authorized(_ pipelineRequest: PipelineRequest) -> PipelineRequest {
        guard let jar = Self.jar(of: pipelineRequest.context),
            !jar.isEmpty || pipelineRequest.credentials != nil
        else { return pipelineRequest }
        let cookies = Self.cookies(for: pipelineRequest.request.url, pipelineRequest.context)
        pipelineRequest.credentials?.sent(cookies, to: pipelineRequest.request.url)
        guard !cookies.isEmpty else { return pipelineRequest }
        var authorized = pipelineRequest
        Cookie.add(cookies, to: &authorized.request.headers)
        return authorized
    }

    @inline(never)  // decision 10
    private func keep(_ response: Response?, _ pipelineRequest: PipelineRequest) {
        guard let headers = response?.headers,
            headers.contains(.setCookie),
            let jar = Self.jar(of: pipelineRequest.context)
        else { return }
        if jar.takeIncompleteSuffixesNotice() {
            pipelineRequest.context.emit(.publicSuffixesIncomplete)
        }
        jar.receive(
            headers, from: pipelineRequest.request.url, now: pipelineRequest.context.clock.now)
    }

    /// The request's headers including the cookies that will be added.
    static func headersWithCookies(_ pipelineRequest: PipelineRequest) -> HTTPFields {
        var headers = pipelineRequest.request.headers
        let cookies = cookies(for: pipelineRequest.request.url, pipelineRequest.context)
        if !cookies.isEmpty { Cookie.add(cookies, to: &headers) }
        return headers
    }

    /// The cookies of the jar for a URL; none if the request uses no cookies.
    static func cookies(for url: HTTPURL, _ context: TaskContext) -> [Cookie] {
        guard let jar = jar(of: context), !jar.isEmpty else { return [] }
        return jar.cookies(for: url, now: context.clock.now)
    }

    /// The cookie jar of a request; `nil` if it uses no cookies.
    static func jar(of context: TaskContext) -> CookieJar? {
        guard context.description.uses.contains(.cookies), context.configuration.usesCookies else {
            return nil
        }
        if let jar = context.configuration.cookieJar { return jar }
        return context.services.cookieJar
    }
}
