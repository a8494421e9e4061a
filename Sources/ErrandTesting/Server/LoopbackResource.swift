import ErrandHTTP
public import ErrandSystem

/// A resource that a ``LoopbackServer`` serves with range and conditional requests (RFC 9110 §13 and §14).
public struct LoopbackResource: Sendable {
    /// The content.
    public var body: Data
    /// The `ETag` value with its quotes, such as `"v1"` or `W/"v1"`; `nil` to send none.
    public var etag: String?
    /// The `Last-Modified` value; `nil` to send none.
    public var lastModified: String?
    /// The `Content-Type` value.
    public var contentType: String
    /// Whether range requests are supported.
    ///
    /// Default true.
    public var acceptsRanges = true

    /// Creates a resource.
    public init(
        _ body: Data, etag: String? = nil, lastModified: String? = nil,
        contentType: String = "application/octet-stream"
    ) {
        self.body = body
        self.etag = etag
        self.lastModified = lastModified
        self.contentType = contentType
    }

    /// The response to a request, with status 200, 206, 304 or 416.
    public func response(to request: LoopbackRequest) -> LoopbackResponse {
        if let etag,
            // text of the test: a whole value
            request.header("If-None-Match").map({ $0 == "*" || $0.contains(bytes: etag) }) == true
        {
            return make(304, nil, [])
        }
        guard acceptsRanges, request.method == "GET", conditionHolds(request) else {
            return make(200, 0..<body.count, [])
        }
        switch Self.parse(request.header("Range"), size: body.count) {
        case .whole:
            return make(200, 0..<body.count, [])
        case .part(let range):
            let text = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"
            return make(206, range, [LoopbackHeader("Content-Range", text)])
        case .unsatisfiable:
            return make(416, 0..<0, [LoopbackHeader("Content-Range", "bytes */\(body.count)")])
        }
    }

    /// Whether `If-Range` is absent or its validator is strong and matches (RFC 9110 §13.1.5).
    private func conditionHolds(_ request: LoopbackRequest) -> Bool {
        guard let condition = request.header("If-Range") else { return true }
        if let etag, !etag.starts(withBytes: "W/"), condition == etag { return true }
        return lastModified == condition
    }

    private func make(
        _ status: Int, _ range: Range<Int>?, _ extra: [LoopbackHeader]
    ) -> LoopbackResponse {
        var lines: [LoopbackHeader] = []
        if let etag { lines.append(LoopbackHeader("ETag", etag)) }
        if let lastModified { lines.append(LoopbackHeader("Last-Modified", lastModified)) }
        if acceptsRanges { lines.append(LoopbackHeader("Accept-Ranges", "bytes")) }
        lines += extra
        guard let range else {
            return LoopbackResponse(steps: [.head(status: status, headers: lines)])
        }
        lines.append(LoopbackHeader("Content-Type", contentType))
        lines.append(LoopbackHeader("Content-Length", "\(range.count)"))
        let start = body.startIndex
        let part = body[(start + range.lowerBound)..<(start + range.upperBound)]
        return LoopbackResponse(
            steps: [.head(status: status, headers: lines), .body(Data(part))])
    }

    enum RangeSelection: Hashable {
        /// The header is missing, or is invalid and therefore ignored.
        case whole
        case part(Range<Int>)
        case unsatisfiable
    }

    static func parse(_ line: String?, size: Int) -> RangeSelection {
        guard let ranges = line?.dropping(prefix: "bytes=") else { return .whole }
        let parts = ranges.pieces(at: "-", keepingEmpty: true)
        guard parts.count == 2 else { return .whole }
        if parts[0].isEmpty {
            guard let count = Int(parts[1]), count >= 0 else { return .whole }
            return count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
        }
        guard let first = Int(parts[0]), first >= 0 else { return .whole }
        guard first < size else { return .unsatisfiable }
        if parts[1].isEmpty { return .part(first..<size) }
        guard let last = Int(parts[1]), last >= first else { return .whole }
        return .part(first..<(last >= size ? size : last + 1))
    }
}
