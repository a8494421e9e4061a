public import ErrandCore
import ErrandSystem
import Synchronization

extension SQLiteResponseStore {
    /// The entry of a key, whatever its age, with a body that is read in parts.
    ///
    /// While the body is used in this process, other entries are evicted first. After the removal or
    /// replacement of the entry, reads may throw ``RequestError/Code/storeFailed``. A part that is
    /// damaged throws ``RequestError/Code/storeFailed``, too, and the entry is deleted.
    ///
    /// - Throws: As ``entry(for:)``.
    public func open(_ key: CacheKey) async throws(RequestError) -> StoredResponse.Opened? {
        let now = milliseconds
        let reading = try await perform { (state) throws(SQLiteFailure) in
            let reading = try state.read(key, wantsParts: true, now: now)
            // Under the lock, so that this store does not evict the body before.
            guard case .parts(_, let body, _) = reading else {
                return (reading, BodyLeases.Lease?.none)
            }
            return (reading, BodyLeases.Lease(body.id))
        }
        switch reading.0 {
        case .entry(let entry): return StoredResponse.Opened(entry)
        case .none: return nil
        case .damaged: throw Self.damaged
        case .parts(let entry, let body, let id):
            let reader = PartReader(store: self, body: body, entry: id, lease: reading.1)
            return StoredResponse.Opened(
                entry,
                body: StoredResponse.ChunkedBody(count: body.count) { range throws(RequestError) in
                    try await reader.bytes(in: range)
                })
        }
    }

    /// Writes an entry whose body is read in parts, atomically.
    ///
    /// A body above 1 MiB is written in several transactions, and the entry last. A process that is
    /// killed meanwhile leaves parts that count for the limits and are removed by later writes, at
    /// the latest after 10 minutes.
    ///
    /// - Throws: As ``store(_:for:)``, and the errors of `body`.
    public func store(
        _ entry: StoredResponse, body: StoredResponse.ChunkedBody, for key: CacheKey
    ) async throws(RequestError) {
        var entry = entry
        entry.body = Data()
        let size = entry.size + body.count
        guard size <= maximumBytes / 2 else {
            try await remove(key)
            throw .entryTooLarge(size, limit: maximumBytes / 2)
        }
        guard body.count > limits.partsThreshold else {
            entry.body = try await body.bytes(in: 0..<body.count)
            return try await store(entry, for: key)
        }
        guard try await perform({ (state) throws(SQLiteFailure) in try state.storesParts() })
        else {
            return try await storeInMemory(entry, body: body, for: key)
        }
        let parts = BodyParts(
            id: BodyParts.newID(), count: body.count, partSize: limits.partBytes)
        do throws(RequestError) {
            for part in 0..<parts.parts {
                let bytes = try await body.bytes(in: parts.range(of: part))
                let now = milliseconds
                try await perform { (state) throws(SQLiteFailure) in
                    try state.write(part: part, of: parts, bytes: bytes, now: now)
                }
            }
            let now = milliseconds
            try await perform { [entry] (state) throws(SQLiteFailure) in
                try state.finish(entry, body: parts, for: key, now: now)
            }
        } catch {
            await abandon(parts)
            throw error
        }
    }

    /// Stores an entry while the file cannot be opened.
    private func storeInMemory(
        _ entry: StoredResponse, body: StoredResponse.ChunkedBody, for key: CacheKey
    ) async throws(RequestError) {
        var entry = entry
        // A larger body cannot be kept; the write fails with the error of the file.
        if body.count <= limits.memoryBytes {
            entry.body = try await body.bytes(in: 0..<body.count)
        } else {
            throw .entryTooLarge(body.count, limit: limits.memoryBytes)
        }
        let now = milliseconds
        try await perform { [entry] (state) throws(SQLiteFailure) in
            try state.write(entry, for: key, now: now)
        }
    }

    private func abandon(_ parts: BodyParts) async {
        do throws(RequestError) {
            try await perform { (state) throws(SQLiteFailure) in try state.abandon(parts) }
        } catch {
            // A later write removes the parts.
            return
        }
        await sweep()
    }
}

/// Reads a body in parts and keeps the last part.
private final class PartReader: Sendable {
    private let store: SQLiteResponseStore
    private let body: BodyParts
    private let entry: Int64
    private let lease: BodyLeases.Lease?
    private let last = Mutex<(part: Int, bytes: Data)?>(nil)

    init(store: SQLiteResponseStore, body: BodyParts, entry: Int64, lease: BodyLeases.Lease?) {
        self.store = store
        self.body = body
        self.entry = entry
        self.lease = lease
    }

    func bytes(in range: Range<Int>) async throws(RequestError) -> Data {
        let first = range.lowerBound / body.partSize
        let end = (range.upperBound - 1) / body.partSize
        if first == end { return Self.slice(try await bytes(of: first), of: first, range, body) }
        var result = Data(capacity: range.count)
        for part in first...end {
            result.append(Self.slice(try await bytes(of: part), of: part, range, body))
        }
        return result
    }

    /// The bytes of a part that lie in a range.
    private static func slice(
        _ bytes: Data, of part: Int, _ range: Range<Int>, _ body: BodyParts
    ) -> Data {
        let all = body.range(of: part)
        let wanted = range.clamped(to: all)
        let start = bytes.startIndex + wanted.lowerBound - all.lowerBound
        return bytes[start..<(start + wanted.count)]
    }

    private func bytes(of part: Int) async throws(RequestError) -> Data {
        if let last = last.withLock({ $0 }), last.part == part { return last.bytes }
        let reading = try await store.perform { (state) throws(SQLiteFailure) in
            try state.read(part: part, of: body, entry: entry)
        }
        switch reading {
        case .bytes(let bytes):
            last.withLock { $0 = (part, bytes) }
            return bytes
        case .missing:
            throw failure("was removed or replaced while it was read")
        case .damaged:
            throw failure("is damaged and was deleted")
        }
    }

    private func failure(_ reason: String) -> RequestError {
        RequestError(
            .storeFailed, stage: .cache, "The stored body \(reason). Load the response again.")
    }
}
