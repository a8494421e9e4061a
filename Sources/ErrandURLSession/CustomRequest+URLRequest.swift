import ErrandCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension CustomRequest {
    /// Copies URL, method, headers and body of a `URLRequest`.
    ///
    /// A body stream is read to its end here, because it can be read only once and an attempt may be repeated. A
    /// stream that cannot be read completely fails the request before anything is sent.
    nonisolated init(_ request: URLRequest) {
        var body = request.httpBody.map { HTTPBody.data($0, contentType: nil) }
        if body == nil, let stream = request.httpBodyStream {
            do throws(RequestError) {
                body = .data(try Data(readingAllOf: stream), contentType: nil)
            } catch {
                body = .unreadable(error)
            }
        }
        let headers = (request.allHTTPHeaderFields ?? [:]).map { (name: $0.key, value: $0.value) }
        self.init(
            url: request.url.map { EndpointURL($0) } ?? "",
            method: HTTPMethod(request.httpMethod ?? "GET"),
            headers: headers.sorted { $0.name < $1.name }, body: body)
    }
}

extension HTTPBody {
    /// A body that throws an error when it is sent.
    nonisolated fileprivate static func unreadable(_ error: RequestError) -> HTTPBody {
        HTTPBody(
            storage: .invalid(error), contentType: nil)
    }
}

extension Data {
    /// The largest body stream that is collected in memory: the same as for a response.
    nonisolated private static let mostStreamed = 256 << 20

    nonisolated fileprivate init(readingAllOf stream: InputStream) throws(RequestError) {
        self.init()
        switch stream.streamStatus {
        case .notOpen: stream.open()
        case .atEnd, .closed, .error:
            // The bytes are consumed; the request would be sent with another body.
            throw Self.unreadable(
                "was already read: use a new stream for each start, or use httpBody.")
        default: break
        }
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let read = stream.read(&buffer, maxLength: buffer.count)
            guard read >= 0, read <= buffer.count else {
                throw Self.unreadable(
                    "cannot be read: check its source, or use httpBody.")
            }
            guard read > 0 else { return }
            guard count <= Self.mostStreamed - read else {
                throw Self.unreadable(
                    "has more than 256 MiB: use a file as the body instead."
                )
            }
            append(contentsOf: buffer[..<read])
        }
    }

    // `streamError` is not attached as underlying: on Linux (Foundation of Swift 6.3) reading it traps when it is nil.
    nonisolated private static func unreadable(_ reason: String) -> RequestError {
        RequestError(
            .bodyReadFailed, stage: .build,
            "The httpBodyStream of the URLRequest \(reason)")
    }
}
