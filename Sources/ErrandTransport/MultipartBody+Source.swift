import ErrandSystem

extension MultipartBody {
    /// Opens the body for one attempt.
    ///
    /// Checks every file, and opens each one when its part is read.
    ///
    /// - Throws: ``RequestError/Code/invalidBody``.
    package func makeSource() throws(RequestError) -> any BodySource {
        try checkBoundary()
        var segments: [ConcatenatedBodySource.Segment] = []
        for part in parts {
            try check(part)
            segments.append(.bytes(head(of: part)))
            segments.append(try segment(of: part.body))
            segments.append(.bytes(Self.lineBreak))
        }
        segments.append(.bytes(closing))
        return ConcatenatedBodySource(segments)
    }

    private func segment(of body: HTTPBody) throws(RequestError) -> ConcatenatedBodySource.Segment {
        switch body.storage {
        case .data(let data):
            return .bytes(data)
        case .file(let url):
            let length = try FileBodySource.checkedLength(of: url)
            return .init(length: length) { () throws(RequestError) in
                try FileBodySource(url, expectedLength: length)
            }
        case .stream(let length, _):
            return .init(length: length) { () throws(RequestError) in try body.makeSource() }
        case .value(let encode):
            return .bytes(try encode(.requestDefault))
        case .multipart:
            // This source determines the length and checks the files. Another one is created when
            // the part is read.
            let length = try body.makeSource().length
            return .init(length: length) { () throws(RequestError) in try body.makeSource() }
        case .invalid(let error):
            throw error
        }
    }
}

extension ConcatenatedBodySource.Segment {
    fileprivate static func bytes(_ data: Data) -> Self {
        Self(length: Int64(data.count)) { DataBodySource(data) }
    }
}
