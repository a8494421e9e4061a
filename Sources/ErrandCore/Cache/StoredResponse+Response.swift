package import Foundation
import HTTPTypes

// The two ways between an answer and its stored form.

extension Response {
    /// Makes a whole answer a part of it, as a server would tell it (RFC 9110 §15.3.7).
    package mutating func narrow(to part: Range<Int>) {
        let whole = data
        status = .partialContent
        headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(whole.count)"
        headers[.contentLength] = String(part.count)
        let bytes = whole.dropFirst(part.lowerBound).prefix(part.count)
        body = .data(Data(bytes))
    }
}

extension StoredResponse {
    /// What is stored of an answer; `nil` for one whose body is a file.
    package init?(_ response: Response, rules: CacheRules, tag: Int, storedAt: Date) {
        guard case .data(let body) = response.body else { return nil }
        // What belongs to one exchange is not the answer's: cookies are the jar's to keep.
        let passing: Set<HTTPField.Name> = [
            .setCookie, .wwwAuthenticate, .authenticationInfo, .proxyAuthenticate,
        ]
        var headers = response.headers
        if headers.contains(where: { passing.contains($0.name) }) {
            headers = HTTPFields(headers.filter { !passing.contains($0.name) })
        }
        // A fragment is the asker's: another one gets the same entry with another.
        var url = response.url
        url.fragment = nil
        self.init(
            status: response.status.code, headers: headers, body: body,
            url: url.string, storedAt: storedAt, cacheVersion: rules.cacheVersion,
            appVersion: rules.appVersion, identity: rules.identity, tag: tag)
    }

    /// The answer as it was; `nil` when what is stored can be no answer (row CAC-9: strict
    /// decoding).
    ///
    /// - Parameter requestURL: The address asked for: nearly always the one that answered, and need not be
    ///   parsed then.
    package func response(to requestURL: URI, source: Response.Source) -> Response? {
        guard (200..<1000).contains(status) else { return nil }
        let address = url == requestURL.string ? requestURL : (try? URI(parsing: url)) ?? requestURL
        return Response(
            status: HTTPResponse.Status(code: status), headers: headers, body: .data(body),
            url: address, source: source, attempts: 0)
    }
}
