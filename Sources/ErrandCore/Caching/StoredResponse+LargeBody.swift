import ErrandSystem
import Synchronization

extension StoredResponse {
    /// The body of a stored response that is read in parts, from its store or from a file.
    ///
    /// It is the `stream` of a response to a streamed request, so that the body is never in memory as
    /// a whole.
    package final class LargeBody: ResponseStreamBody, Hashable {
        /// The size above which the body of a streamed response is read in parts, in bytes (1 MiB).
        package static let threshold = 1 << 20

        /// The bytes.
        package let parts: ChunkedBody
        private let afterLastPart = Mutex<(@Sendable () async -> Void)?>(nil)

        /// Creates a large body.
        package init(_ parts: ChunkedBody) { self.parts = parts }

        /// Sets a closure that is called once, when all parts have been read; not after an error.
        package func afterLastPart(_ body: @escaping @Sendable () async -> Void) {
            afterLastPart.withLock { $0 = body }
        }

        /// Calls the closure of ``afterLastPart(_:)``, unless the body ended with an error.
        package func ended(_ error: RequestError?) async {
            let body = afterLastPart.withLock { $0.take() }
            if error == nil { await body?() }
        }

        /// A range of the body.
        func part(_ range: Range<Int>) -> LargeBody {
            LargeBody(
                ChunkedBody(count: range.count) { [parts] wanted throws(RequestError) in
                    let start = range.lowerBound + wanted.lowerBound
                    return try await parts.bytes(in: start..<(start + wanted.count))
                })
        }

        package static func == (one: LargeBody, other: LargeBody) -> Bool { one === other }

        package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    /// The number of bytes of the body, also of one that is read in parts.
    package var bodyCount: Int { largeBody?.parts.count ?? body.count }

    /// The entry with its body in memory.
    package func whole() async throws(RequestError) -> StoredResponse {
        guard let parts = largeBody?.parts else { return self }
        var whole = self
        (whole.largeBody, whole.body) = (nil, try await parts.bytes(in: 0..<parts.count))
        return whole
    }
}

extension ResponseStore {
    /// The entry of a key; a body above ``StoredResponse/LargeBody/threshold`` is read in parts.
    package func entryInParts(
        for key: CacheKey
    ) async throws(RequestError) -> StoredResponse? {
        guard let opened = try await open(key) else { return nil }
        var entry = opened.entry
        entry.largeBody = StoredResponse.LargeBody(opened.body)
        return opened.body.count > StoredResponse.LargeBody.threshold
            ? entry : try await entry.whole()
    }

    /// Writes an entry, in parts if its body is read in parts.
    package func storeInParts(
        _ entry: StoredResponse, for key: CacheKey
    ) async throws(RequestError) {
        guard let parts = entry.largeBody?.parts else { return try await store(entry, for: key) }
        var entry = entry
        entry.largeBody = nil
        try await store(entry, body: parts, for: key)
    }
}
