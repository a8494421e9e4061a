import HTTPTypes

/// Gives each hop its cookies, and keeps what it brings: those of redirects and of errors, too.
package struct CookieStep: Step {
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let context = exchange.context
        guard let jar = jar(of: context) else { return try await next(exchange) }
        let url = exchange.request.url
        var adorned = exchange
        if !jar.isEmpty {
            let cookies = jar.cookies(for: url, now: context.clock.now)
            if !cookies.isEmpty { Self.add(cookies, to: &adorned.request.headers) }
        }
        do {
            let response = try await next(adorned)
            keep(response, from: url, in: jar, context)
            return response
        } catch {
            if let response = error.response { keep(response, from: url, in: jar, context) }
            throw error
        }
    }

    package func concerns(_ exchange: Exchange) -> Bool { jar(of: exchange.context) != nil }

    private func keep(
        _ response: Response, from url: URI, in jar: CookieJar, _ context: TaskContext
    ) {
        let headers = response.headers
        guard headers.contains(where: { $0.name == .setCookie }) else { return }
        jar.receive(headers, from: url, now: context.clock.now)
    }

    private func jar(of context: TaskContext) -> CookieJar? {
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
