import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension CustomRequest {
    /// What of a `URLRequest` travels: URL, method, headers, body.
    ///
    /// A body stream is read to its end here, since it can be read only once and an attempt may be
    /// repeated.
    nonisolated init(_ request: URLRequest) {
        var body = request.httpBody.map { HTTPBody.data($0, contentType: nil) }
        if body == nil, let stream = request.httpBodyStream {
            body = .data(Data(readingAllOf: stream), contentType: nil)
        }
        let headers = (request.allHTTPHeaderFields ?? [:]).map { (name: $0.key, value: $0.value) }
        self.init(
            url: request.url?.absoluteString ?? "", method: HTTPMethod(request.httpMethod ?? "GET"),
            headers: headers.sorted { $0.name < $1.name }, body: body)
    }
}

extension Data {
    nonisolated fileprivate init(readingAllOf stream: InputStream) {
        self.init()
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return }
            append(contentsOf: buffer[..<count])
        }
    }
}
