import ErrandCore
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request in URLSession's terms.
enum WireRequest {
    /// What makes FoundationNetworking leave a header away that it would add.
    private static let removed = " "

    /// The address, if Foundation takes it just as it is.
    static func url(of request: TransportRequest) -> URL? {
        var uri = request.url
        uri.userInfo = nil
        uri.fragment = nil
        guard let url = URL(string: uri.string), url.host?.isEmpty == false else { return nil }
        return url
    }

    /// - Parameters:
    ///   - bodyLength: The body's length; `nil` when there is none.
    ///   - additional: The names of headers that the session's configuration adds, in lower case.
    static func make(
        _ request: TransportRequest, url: URL, bodyLength: Int64?, additional: Set<String>
    ) -> URLRequest {
        var result = URLRequest(url: url)
        result.httpMethod = request.method.rawValue
        result.timeoutInterval = TimeInterval(wholeSeconds(above: request.timeouts))
        result.cachePolicy = .reloadIgnoringLocalCacheData
        result.httpShouldHandleCookies = false
        result.allowsCellularAccess = request.options.allowsCellularAccess
        for (name, value) in headers(of: request) {
            result.setValue(value, forHTTPHeaderField: name)
        }
        suppressDefaults(&result, request, additional)
        if let bodyLength {
            // NB: with Content-Length alone, FoundationNetworking sends chunked coding besides; with this
            // value for Transfer-Encoding it sends neither chunks nor that header.
            result.setValue("\(bodyLength)", forHTTPHeaderField: "Content-Length")
            result.setValue(removed, forHTTPHeaderField: "Transfer-Encoding")
        }
        return result
    }

    /// The headers to send, duplicates joined: URLSession has only one value for a name.
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
        _ result: inout URLRequest, _ request: TransportRequest, _ additional: Set<String>
    ) {
        for name in ["User-Agent", "Accept-Language"]
        where result.value(forHTTPHeaderField: name) == nil
            && !additional.contains(name.lowercased())
        {
            result.setValue(removed, forHTTPHeaderField: name)
        }
        if request.headers[.contentType] == nil, request.body != nil {
            result.setValue(
                request.body?.contentType ?? removed, forHTTPHeaderField: "Content-Type")
        }
    }

    /// A limit for URLSession's own timer that lies behind ours.
    ///
    /// NB: it takes whole seconds only, fails at once below 1, and ends the process for infinity.
    static func wholeSeconds(above timeouts: Timeouts) -> Int {
        let longest = 604_800
        guard let idle = timeouts.idle else { return longest }
        let seconds = max(idle, timeouts.connect ?? .zero).components.seconds
        return Int(min(Int64(longest), max(0, min(seconds, Int64(longest))) + 5))
    }
}
