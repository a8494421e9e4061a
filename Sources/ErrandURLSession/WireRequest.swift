import ErrandTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Converts a request to a `URLRequest`.
enum WireRequest {
    /// A header value that makes FoundationNetworking (Swift 6.3.1) omit a header that it would add.
    private static let removed = " "

    /// The URL without user info and fragment; `nil` if Foundation cannot represent it, or would
    /// connect to another host.
    static func url(of request: TransportRequest) -> URL? {
        var uri = request.url
        uri.userInfo = nil
        uri.fragment = nil
        guard let url = URL(string: uri.string), let host = url.host,
            uri.host == host || uri.host == "[\(host)]", url.port == uri.port
        else { return nil }
        return url
    }

    /// Creates the `URLRequest`.
    ///
    /// - Parameters:
    ///   - bodyLength: The body's length; `nil` without a body.
    ///   - additional: The headers that the session's configuration adds; their names are in lower case.
    static func make(
        _ request: TransportRequest, url: URL, bodyLength: Int64?, additional: [String: String]
    ) -> URLRequest {
        var result = URLRequest(url: url)
        result.httpMethod = request.method.rawValue
        result.timeoutInterval = sessionTimeout
        result.cachePolicy = .reloadIgnoringLocalCacheData
        result.httpShouldHandleCookies = false
        result.allowsCellularAccess = request.options.allowsCellularAccess
        for (name, value) in headers(of: request) {
            result.setValue(value, forHTTPHeaderField: name)
        }
        suppressDefaults(&result, request, additional)
        if let bodyLength {
            // FoundationNetworking (Swift 6.3.1) adds `Transfer-Encoding: chunked` to a streamed body even if
            // Content-Length is set. With this value it sends neither chunks nor that header.
            result.setValue("\(bodyLength)", forHTTPHeaderField: "Content-Length")
            result.setValue(removed, forHTTPHeaderField: "Transfer-Encoding")
        }
        return result
    }

    /// The headers to send.
    ///
    /// Repeated fields are joined, because `URLRequest` has one value per name.
    private static func headers(of request: TransportRequest) -> [(String, String)] {
        let own: Set<HTTPField.Name> = [.contentLength, .transferEncoding]
        var order: [HTTPField.Name] = []
        var values: [HTTPField.Name: [String]] = [:]
        for field in request.headers
        where !own.contains(field.name) && field.name.canonicalName != "host" {
            if values[field.name] == nil { order.append(field.name) }
            values[field.name, default: []].append(field.value)
        }
        return order.map { name in
            let joined = (values[name] ?? []).joined(separator: name == .cookie ? "; " : ", ")
            return (name.rawName, joined)
        }
    }

    private static func suppressDefaults(
        _ result: inout URLRequest, _ request: TransportRequest, _ additional: [String: String]
    ) {
        for name in ["User-Agent", "Accept-Language"]
        where result.value(forHTTPHeaderField: name) == nil
            && additional[name.lowercasedASCII()] == nil
        {
            result.setValue(removed, forHTTPHeaderField: name)
        }
        if request.headers[.contentType] == nil, request.body != nil {
            result.setValue(
                request.body?.contentType ?? removed, forHTTPHeaderField: "Content-Type")
        }
    }

    /// The value of `timeoutInterval`: seven days.
    ///
    /// ``DeadlineWatch`` applies the timeouts of the request. URLSession's own timeout would also end a stream whose
    /// reader does not wait for bytes. FoundationNetworking (Swift 6.3.1) uses whole seconds and terminates the process
    /// for infinity.
    static let sessionTimeout: TimeInterval = 604_800
}
