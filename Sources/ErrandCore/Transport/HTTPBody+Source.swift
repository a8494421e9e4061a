extension HTTPBody {
    /// How many bytes will go out, where that can be known before; a file is asked for its size.
    var lengthToSend: Int64? {
        guard case .file = storage else { return knownLength }
        guard let source = try? makeSource() else { return nil }
        defer { source.close() }
        return source.length
    }

    /// Opens the body for one attempt.
    ///
    /// - Throws: ``RequestError/Code/invalidBody`` when there is nothing to send: a file that is missing, is
    ///   no regular file or cannot be read, a stream that cannot be made, a negative length. Nothing has
    ///   been sent then.
    public func makeSource() throws(RequestError) -> any BodySource {
        switch storage {
        case .data(let data):
            return DataBodySource(data)
        case .file(let url):
            return try FileBodySource(url)
        case .stream(let length, let make):
            return try StreamBodySource(
                length: length, isReplayable: isReplayable, make: make)
        case .source(_, let make):
            return try make()
        }
    }
}
