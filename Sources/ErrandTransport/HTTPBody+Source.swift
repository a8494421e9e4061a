extension HTTPBody {
    /// The number of bytes that will be sent, if it is known before; files count with their current sizes.
    package var lengthToSend: Int64? {
        if let knownLength { return knownLength }
        switch storage {
        case .file, .multipart:
            guard let source = try? makeSource() else { return nil }
            defer { source.close() }
            return source.length
        case .data, .value, .stream, .invalid: return nil
        }
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
