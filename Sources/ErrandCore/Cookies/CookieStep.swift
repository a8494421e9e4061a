import ErrandTransport
import HTTPTypes

/// Adds cookies to each request, and stores those of each response, including redirects and errors.
package final class CookieStep: DirectStep {
    /// Adds the cookies.
    package func before(_ pipelineRequest: inout PipelineRequest) -> Passing {
        authorize(&pipelineRequest) ? .changed : .unchanged
    }

    package func after(
        _ result: inout Result<Response, RequestError>, _ sent: PipelineRequest
    ) -> Bool {
        switch result {
        case .success(let response): keep(response, sent)
        case .failure(let error): keep(error.response, sent)
        }
        return true
    }

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        Self.jar(of: pipelineRequest.task) != nil
    }

    @inline(never)  // decision 10
    private func authorize(_ pipelineRequest: inout PipelineRequest) -> Bool {
        guard let jar = Self.jar(of: pipelineRequest.task),
            !jar.isEmpty || pipelineRequest.cache.credentials != nil
        else { return false }
        let cookies = Self.cookies(for: pipelineRequest.request.url, pipelineRequest.task)
        pipelineRequest.cache.credentials?.sent(cookies, to: pipelineRequest.request.url)
        guard !cookies.isEmpty else { return false }
        Cookie.add(cookies, to: &pipelineRequest.request.headers)
        return true
    }

    @inline(never)  // decision 10
    private func keep(_ response: Response?, _ pipelineRequest: PipelineRequest) {
        guard let headers = response?.headers,
            headers.contains(.setCookie),
            let jar = Self.jar(of: pipelineRequest.task)
        else { return }
        if jar.takeIncompleteSuffixesNotice() {
            pipelineRequest.task.emit(.publicSuffixesIncomplete)
        }
        jar.receive(
            headers, from: pipelineRequest.request.url, now: pipelineRequest.task.clock.now)
    }

    /// The request's headers including the cookies that will be added.
    static func headersWithCookies(_ pipelineRequest: PipelineRequest) -> HTTPFields {
        var headers = pipelineRequest.request.headers
        let cookies = cookies(for: pipelineRequest.request.url, pipelineRequest.task)
        if !cookies.isEmpty { Cookie.add(cookies, to: &headers) }
        return headers
    }

    /// The cookies of the jar for a URL; none if the request uses no cookies.
    static func cookies(for url: HTTPURL, _ task: RequestTask) -> [Cookie] {
        guard let jar = jar(of: task), !jar.isEmpty else { return [] }
        return jar.cookies(for: url, now: task.clock.now)
    }

    /// The cookie jar of a request; `nil` if it uses no cookies.
    static func jar(of task: RequestTask) -> CookieJar? {
        guard task.description.uses.contains(.cookies), task.configuration.usesCookies else {
            return nil
        }
        if let jar = task.configuration.cookieJar { return jar }
        return task.services.cookieJar
    }
}
