public import Foundation

/// A request's body: bytes, a file, or a sequence of chunks, with its content type.
public struct HTTPBody: Sendable {
    package enum Storage: Sendable {
        case data(Data)
        case file(URL)
        case stream(length: Int64?, make: @Sendable () throws -> AnyChunks)
        /// Bytes from a source made anew for every attempt, such as a multipart body.
        case source(length: Int64?, make: @Sendable () throws(RequestError) -> any BodySource)
    }

    package var storage: Storage
    /// The parts of a body that has some; its storage reads them.
    package private(set) var multipart: MultipartBody?
    /// Keeps book of a stream that can be made only once; `nil` for everything else.
    private var singleUse: SingleUse?
    /// What goes out as `Content-Type`, unless the request's headers name another.
    public var contentType: String?

    package init(storage: Storage, contentType: String?) {
        self.storage = storage
        self.contentType = contentType
    }

    package init(multipart: MultipartBody, contentType: String?) {
        storage = .source(length: multipart.knownLength) { () throws(RequestError) in
            try multipart.makeSource()
        }
        self.multipart = multipart
        self.contentType = contentType
    }

    /// Bytes in memory.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> Self
    {
        HTTPBody(storage: .data(data), contentType: contentType)
    }

    /// Text in UTF-8.
    public static func string(
        _ text: String, contentType: String? = "text/plain; charset=utf-8"
    ) -> Self {
        HTTPBody(storage: .data(Data(text.utf8)), contentType: contentType)
    }

    /// A file, read while it is sent.
    ///
    /// It must exist, be a regular file and keep its size until it is sent; else the request fails.
    public static func file(_ url: URL, contentType: String? = "application/octet-stream") -> Self {
        HTTPBody(storage: .file(url), contentType: contentType)
    }

    /// Chunks from an async sequence, made anew for every attempt.
    ///
    /// One that can be made only once, such as what comes in from elsewhere at this moment, says so: then the request is
    /// not sent again after a failure, a 401 is the answer, and a redirect that would need the body again fails with
    /// ``RequestError/Code/bodyNotReplayable``.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, if known; then it is announced and must be met. Else the body goes
    ///     out chunked.
    ///   - isReplayable: Whether the sequence can be made more than once (default true).
    ///   - make: Makes the sequence; called once for each attempt, and once in all where it is not replayable.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        isReplayable: Bool = true, _ make: @escaping @Sendable () throws -> Chunks
    ) -> Self where Chunks.Element == Data {
        let singleUse = isReplayable ? nil : SingleUse()
        var body = HTTPBody(
            storage: .stream(length: length) {
                try singleUse?.make()
                return AnyChunks(try make())
            }, contentType: contentType)
        body.singleUse = singleUse
        return body
    }

    /// Whether the body can be sent more than once: false for a stream that says so, and for a body of parts with one.
    public var isReplayable: Bool {
        singleUse == nil && multipart?.parts.allSatisfy(\.body.isReplayable) != false
    }

    /// Whether the body could be sent once and has been.
    package var isSpent: Bool {
        singleUse?.isSpent == true || multipart?.parts.contains(where: \.body.isSpent) == true
    }

    /// A transfer with the body begins.
    func noteSending() {
        singleUse?.send()
        if let multipart { for part in multipart.parts { part.body.noteSending() } }
    }

    /// Whether the bytes are in memory, all of them.
    var isInMemory: Bool { if case .data = storage { true } else { false } }

    /// The number of bytes where it is known without reading; `nil` for a file, until it is opened.
    public var knownLength: Int64? {
        switch storage {
        case .data(let data): Int64(data.count)
        case .file: nil
        case .stream(let length, _): length
        case .source(let length, _): length
        }
    }
}

/// A sequence of chunks whose type is forgotten.
package struct AnyChunks: Sendable {
    package typealias Next = () async throws -> Data?
    private let makeNext: @Sendable () -> Next

    package init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks) where Chunks.Element == Data {
        makeNext = {
            var iterator = chunks.makeAsyncIterator()
            return { try await iterator.next(isolation: #isolation) }
        }
    }

    package func makeIterator() -> Next { makeNext() }
}
