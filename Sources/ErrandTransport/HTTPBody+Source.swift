extension HTTPBody {
    /// The number of bytes that will be sent, if it is known before; for a file, its current size.
    package var lengthToSend: Int64? {
        guard case .file = storage else { return knownLength }
        guard let source = try? makeSource() else { return nil }
        defer { source.close() }
        return source.length
    }

    /// Opens the body for one attempt.
    ///
    /// - Throws: ``RequestError/Code/invalidBody`` for a file that is missing, not regular or not
    ///   readable, a stream that cannot be created, or a negative length. Nothing has been sent
    ///   then.
    public func makeSource() throws(RequestError) -> any BodySource {
        switch storage {
        case .data(let data):
            return DataBodySource(data)
        case .file(let url):
            return try FileBodySource(url)
        case .stream(let length, let make):
            return try StreamBodySource(
                length: length, isReplayable: isReplayable, make: make)
        case .multipart(let multipart):
            return try multipart.makeSource()
        case .value(let encode):
            return DataBodySource(try encode(.requestDefault))
        case .invalid(let error):
            throw error
        }
    }
}
