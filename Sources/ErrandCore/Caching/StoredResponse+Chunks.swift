public import ErrandSystem

extension StoredResponse {
    /// A body that is read in parts, so that it is never in memory as a whole.
    ///
    /// A store receives one with an entry to write, and returns one with an entry that it opens.
    public struct ChunkedBody: Sendable {
        /// The number of bytes.
        public let count: Int
        private let part: @Sendable (Range<Int>) async throws(RequestError) -> Data

        /// Creates a body from a function that returns a range of its bytes.
        ///
        /// - Parameters:
        ///   - count: The number of bytes.
        ///   - read: Returns the bytes of a range that lies within the body. It throws
        ///     ``RequestError/Code/storeFailed`` if they cannot be read any more.
        public init(
            count: Int,
            read: @escaping @Sendable (Range<Int>) async throws(RequestError) -> Data
        ) {
            self.count = count
            part = read
        }

        /// Creates a body whose bytes are in memory.
        public init(_ data: Data) {
            self.init(count: data.count) { range throws(RequestError) in
                data[(data.startIndex + range.lowerBound)..<(data.startIndex + range.upperBound)]
            }
        }

        /// The bytes of a range; the part of it that lies outside the body is ignored.
        ///
        /// - Throws: ``RequestError/Code/storeFailed`` if they cannot be read, for example because
        ///   the entry was removed.
        public func bytes(in range: Range<Int>) async throws(RequestError) -> Data {
            let range = range.clamped(to: 0..<count)
            guard !range.isEmpty else { return Data() }
            let bytes = try await part(range)
            guard bytes.count == range.count else {
                throw RequestError(
                    .storeFailed, stage: .cache,
                    "The store returned \(bytes.count) bytes of a stored body instead of "
                        + "\(range.count). Remove the entry, or load the response again.")
            }
            return bytes
        }
    }

    /// An entry whose body is read in parts.
    public struct Opened: Sendable {
        /// The entry, with an empty ``StoredResponse/body``.
        public var entry: StoredResponse
        /// The body.
        public var body: ChunkedBody

        /// Creates an opened entry.
        ///
        /// - Parameters:
        ///   - entry: The entry, with an empty body.
        ///   - body: The body.
        public init(_ entry: StoredResponse, body: ChunkedBody) {
            self.entry = entry
            self.body = body
        }

        /// Creates an opened entry from one whose body is in memory.
        public init(_ entry: StoredResponse) {
            self.init(entry, body: ChunkedBody(entry.body))
            self.entry.body = Data()
        }
    }
}

extension ResponseStore {
    /// The entry of a key with its body in memory.
    public func open(_ key: CacheKey) async throws(RequestError) -> StoredResponse.Opened? {
        try await entry(for: key).map { StoredResponse.Opened($0) }
    }

    /// Reads the body into memory and writes the entry.
    public func store(
        _ entry: StoredResponse, body: StoredResponse.ChunkedBody, for key: CacheKey
    ) async throws(RequestError) {
        var entry = entry
        entry.body = try await body.bytes(in: 0..<body.count)
        try await store(entry, for: key)
    }
}
