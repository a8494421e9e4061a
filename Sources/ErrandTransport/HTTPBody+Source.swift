extension HTTPBody {
    /// The number of bytes that will be sent, if it is known before; files count with their current sizes.
    package var lengthToSend: Int64? {
        if let knownLength { return knownLength }
        switch storage {
        case .file, .multipart:
            guard let source = try? makeContentSource() else { return nil }
            defer { source.close() }
            return source.length
        case .data, .value, .stream, .invalid: return nil
        }
    }

    /// Opens the body for one attempt.
    ///
    /// - Parameter sendsTrailers: Whether the transport sends ``BodySource/trailers`` after the body,
    ///   and announces `trailerNames`. Default false: a body with trailers is refused, so that they
    ///   are not lost.
    /// - Throws: ``RequestError/Code/invalidBody`` for a file that is missing, not regular or not
    ///   readable, a stream that cannot be created, or a negative length,
    ///   ``RequestError/Code/invalidConfiguration`` for a bandwidth limit below 1,
    ///   ``RequestError/Code/invalidHeader`` for trailers with invalid names, and
    ///   ``RequestError/Code/unsupported`` for trailers that would not be sent. Nothing has been
    ///   sent then.
    public func makeSource(
        sendsTrailers: Bool = false
    ) throws(RequestError) -> any BodySource {
        guard let trailerSource else { return try makePacedSource() }
        guard sendsTrailers else {
            throw RequestError(
                .unsupported, stage: .transport,
                "The transport cannot send the trailers of the request's body. Send them as headers, "
                    + "or, on Linux, use CurlTransport.")
        }
        try checkTrailers()
        return TrailingBodySource(try makePacedSource(), trailerSource)
    }

    /// Opens the body without its trailers, with its bandwidth limits.
    private func makePacedSource() throws(RequestError) -> any BodySource {
        let limits = paces.compactMap { $0 as? BandwidthLimit }
        for limit in limits { try limit.check() }
        var source = try makeContentSource()
        for limit in limits { source = PacedBodySource(source, limit.sending) }
        return source
    }

    /// Throws if a file of the body cannot be read, or the body could not be created.
    package func checkReadable() throws(RequestError) {
        switch storage {
        case .file, .multipart, .invalid: try makeContentSource().close()
        case .data, .stream, .value: break
        }
    }

    /// Opens the body without its trailers.
    package func makeContentSource() throws(RequestError) -> any BodySource {
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
