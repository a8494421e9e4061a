package import ErrandJSON
public import ErrandSystem

/// A request body: bytes, a value as JSON, a file, a stream or parts, together with its content type.
public struct HTTPBody: Sendable {
    package enum Storage: Sendable {
        case data(Data)
        case file(URL)
        case stream(length: Int64?, make: @Sendable () throws -> AnyChunks)
        /// Parts, written in order for every attempt.
        case multipart(MultipartBody)
        /// A value that is encoded when the request is built, by this encoder unless the body has its own.
        case value(encode: @Sendable (JSONWriter) throws(RequestError) -> Data)
        /// A body that could not be created; sending it fails with this error.
        case invalid(RequestError)
    }

    package var storage: Storage
    /// The parts of a multipart body; `nil` for every other body.
    package var multipart: MultipartBody? {
        if case .multipart(let parts) = storage { parts } else { nil }
    }
    /// The state of a stream that can be created only once; `nil` for every other body.
    private var singleUse: SingleUse?
    /// The trailers that follow the body; `nil` for none.
    package var trailerSource: TrailerSource?
    /// The limits of the speed at which the body is read (default none).
    package var paces: [any BodyPace] = []
    /// The value of `Content-Type`, unless the request's headers set another one; `nil` sends none.
    public var contentType: String?

    package init(storage: Storage, contentType: String?) {
        self.storage = storage
        self.contentType = contentType
    }

    package init(multipart: MultipartBody, contentType: String?) {
        self.init(storage: .multipart(multipart), contentType: contentType)
    }

    /// A body of bytes in memory.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> Self
    {
        HTTPBody(storage: .data(data), contentType: contentType)
    }

    /// A body of UTF-8 text.
    public static func string(
        _ text: String, contentType: String? = "text/plain; charset=utf-8"
    ) -> Self {
        HTTPBody(storage: .data(Data(text.utf8)), contentType: contentType)
    }

    /// A body from a file, which is read while it is sent.
    ///
    /// The file must be a regular file, and its size must not change until it is sent; otherwise the request
    /// fails.
    public static func file(_ url: URL, contentType: String? = "application/octet-stream") -> Self {
        HTTPBody(storage: .file(url), contentType: contentType)
    }

    /// A body from an async sequence, which is created again for every attempt.
    ///
    /// Set `isReplayable` to false if the sequence can be created only once. Then a failed attempt is not
    /// retried, a 401 response is returned as it is, and a redirect that needs the body again fails with
    /// ``RequestError/Code/bodyNotReplayable``.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, if known. It is sent as `Content-Length`, and the sequence must produce
    ///     exactly this number. If `nil`, the body has no declared length (chunked in HTTP/1.1).
    ///   - isReplayable: Whether the sequence can be created more than once (default true).
    ///   - make: Creates the sequence; called once per attempt, or only once if the body is not replayable.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        isReplayable: Bool = true, _ make: @escaping @Sendable () throws -> Chunks
    ) -> Self where Chunks.Element == Data {
        let singleUse = isReplayable ? nil : SingleUse()
        var body = HTTPBody(
            storage: .stream(length: length) {
                try singleUse?.markCreated()
                return AnyChunks(try make())
            }, contentType: contentType)
        body.singleUse = singleUse
        return body
    }

    /// Whether the body can be sent more than once; false for a stream, or a part, that is not replayable.
    public var isReplayable: Bool {
        singleUse == nil && multipart?.parts.allSatisfy(\.body.isReplayable) != false
    }

    /// Whether the body is not replayable and was already consumed.
    package var isConsumed: Bool {
        singleUse?.isConsumed == true || multipart?.parts.contains(where: \.body.isConsumed) == true
    }

    /// Records that a transfer with the body starts.
    package func markSent() {
        singleUse?.markSent()
        if let multipart { for part in multipart.parts { part.body.markSent() } }
    }

    /// Whether the body is in memory, or will be when its value is encoded.
    package var isInMemory: Bool {
        switch storage {
        case .data, .value: true
        case .file, .stream, .multipart, .invalid: false
        }
    }

    /// The length in bytes if known without reading or encoding the body, otherwise `nil`, for example for a file.
    public var knownLength: Int64? {
        switch storage {
        case .data(let data): return Int64(data.count)
        case .file, .value, .invalid: return nil
        case .stream(let length, _): return length
        case .multipart(let multipart): return multipart.knownLength
        }
    }
}

/// A type-erased sequence of chunks.
package struct AnyChunks: Sendable {
    package typealias NextChunk = () async throws -> Data?
    private let makeNext: @Sendable () -> NextChunk

    package init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks) where Chunks.Element == Data {
        makeNext = {
            var iterator = chunks.makeAsyncIterator()
            return { try await iterator.next(isolation: #isolation) }
        }
    }

    package func makeIterator() -> NextChunk { makeNext() }
}
