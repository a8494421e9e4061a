import ErrandCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension CustomRequest {
    /// What of a `URLRequest` travels: URL, method, headers, body.
    ///
    /// A body stream is read to its end here, since it can be read only once and an attempt may be
    /// repeated. What cannot be read whole fails the request before anything is sent.
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
            url: request.url?.absoluteString ?? "", method: HTTPMethod(request.httpMethod ?? "GET"),
            headers: headers.sorted { $0.name < $1.name }, body: body)
    }
}

extension HTTPBody {
    /// A body that fails whoever wants to send it.
    nonisolated fileprivate static func unreadable(_ error: RequestError) -> HTTPBody {
        HTTPBody(
            storage: .source(length: nil) { () throws(RequestError) in throw error },
            contentType: nil)
    }
}

extension Data {
    /// The most that is taken into memory: as much as of an answer.
    nonisolated private static let mostStreamed = 256 << 20

    nonisolated fileprivate init(readingAllOf stream: InputStream) throws(RequestError) {
        self.init()
        switch stream.streamStatus {
        case .notOpen: stream.open()
        case .atEnd, .closed, .error:
            // Its bytes are gone, and a body without them is another request.
            throw Self.unreadable(
                "was read before: return a new one from each call, or use httpBody.")
        default: break
        }
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let read = stream.read(&buffer, maxLength: buffer.count)
            guard read >= 0, read <= buffer.count else {
                throw Self.unreadable(
                    "cannot be read: look at what it reads from, or use httpBody.")
            }
            guard read > 0 else { return }
            guard count <= Self.mostStreamed - read else {
                throw Self.unreadable(
                    "has more than 256 MiB: describe the request by overrides, with a file as its body."
                )
            }
            append(contentsOf: buffer[..<read])
        }
    }

    // NB: Foundation's own error is not beneath it: on Linux `streamError` traps where there is none.
    nonisolated private static func unreadable(_ reason: String) -> RequestError {
        RequestError(
            .bodyReadFailed, stage: .build,
            "The httpBodyStream of customURLRequest() \(reason)")
    }
}
