import HTTPTypes

/// Gives each hop its cookies, and keeps what it brings: those of redirects and of errors, too.
package struct CookieStep: Step {
    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        guard let jar = Self.jar(of: exchange.context) else { return try await next(exchange) }
        do {
            let response = try await next(adorned(exchange, jar))
            keep(response, exchange, jar)
            return response
        } catch {
            if let response = error.response { keep(response, exchange, jar) }
            throw error
        }
    }

    package func concerns(_ exchange: Exchange) -> Bool {
        Self.jar(of: exchange.context) != nil
    }

    @inline(never)
    private func adorned(_ exchange: Exchange, _ jar: CookieJar) -> Exchange {
        guard !jar.isEmpty else { return exchange }
        let cookies = jar.cookies(for: exchange.request.url, now: exchange.context.clock.now)
        guard !cookies.isEmpty else { return exchange }
        var adorned = exchange
        Self.add(cookies, to: &adorned.request.headers)
        return adorned
    }

    @inline(never)
    private func keep(_ response: Response, _ exchange: Exchange, _ jar: CookieJar) {
        let headers = response.headers
        guard headers.contains(where: { $0.name == .setCookie }) else { return }
        jar.receive(headers, from: exchange.request.url, now: exchange.context.clock.now)
    }

    /// The request's headers as they are with the cookies that it will have.
    static func headersWithCookies(_ exchange: Exchange) -> HTTPFields {
        var headers = exchange.request.headers
        guard let jar = jar(of: exchange.context), !jar.isEmpty else { return headers }
        add(jar.cookies(for: exchange.request.url, now: exchange.context.clock.now), to: &headers)
        return headers
    }

    /// The jar whose cookies a request gets; `nil` where it gets none.
    static func jar(of context: TaskContext) -> CookieJar? {
        guard context.description.usesCookies, context.configuration.usesCookies else {
            return nil
        }
        if let jar = context.configuration.cookieJar { return jar }
        return context.cookieJar
    }

    /// Adds the jar's cookies behind those that the request names itself; of one name the request's own wins.
    package static func add(_ cookies: [Cookie], to headers: inout HTTPFields) {
        let own = headers[values: .cookie]
        let names = Set(own.joined(separator: ";").split(separator: ";").map(name))
        let added = cookies.filter { !names.contains($0.name) }.map(\.pair)
        guard !added.isEmpty else { return }
        headers[fields: .cookie] = []
        // NB: the subscript of HTTPFields would split it; HTTP/1.1 wants one field (RFC 6265bis §5.8.1).
        let value = (own.filter { !$0.isEmpty } + added).joined(separator: "; ")
        headers.append(HTTPField(name: .cookie, value: value))
    }

    private static func name(_ pair: Substring) -> String {
        guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return "" }
        return pair[..<equals].filter { $0 != " " && $0 != "\t" }
    }
}
