package import ErrandHTTP
import ErrandSystem
import Synchronization

extension PartFile {
    /// Computes digests of the first bytes, so that they continue with the bytes that are appended.
    ///
    /// - Parameter offset: The offset at which the file will be resumed.
    package func beginDigests(
        _ algorithms: Set<DownloadedFile.Digest.Algorithm>, through offset: Int64
    ) async throws(RequestError) {
        guard !algorithms.isEmpty else { return }
        try await queue.perform { [self] () throws(RequestError) in
            let digests = try Self.read(
                StreamingDigests(algorithms), from: state.withLock { $0.descriptor },
                through: offset)
            state.withLock { $0.digests = digests }
        }
    }

    /// The digests of the part file; those that were not computed while bytes were appended are computed now.
    package func digests(
        _ algorithms: Set<DownloadedFile.Digest.Algorithm>
    ) async throws(RequestError) -> [DownloadedFile.Digest.Algorithm: DownloadedFile.Digest] {
        guard !algorithms.isEmpty else { return [:] }
        return try await queue.perform { [self] () throws(RequestError) in
            var (streamed, size) = state.withLock {
                (exchange(&$0.digests, with: StreamingDigests([])), $0.size)
            }
            var values = streamed.count == size ? streamed.finalize() : [:]
            let missing = algorithms.subtracting(values.keys)
            if !missing.isEmpty {
                var digests = try Self.read(
                    StreamingDigests(missing), from: state.withLock { $0.descriptor }, through: size
                )
                values.merge(digests.finalize()) { first, _ in first }
            }
            return values.filter { algorithms.contains($0.key) }
        }
    }

    /// Reads the first bytes of a file.
    static func read(
        _ digests: StreamingDigests, from descriptor: Int32, through end: Int64
    ) throws(RequestError) -> StreamingDigests {
        var digests = digests
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while digests.count < end {
            let wanted = Int(min(Int64(buffer.count), end - digests.count))
            let count = pread(descriptor, buffer.baseAddress, wanted, off_t(digests.count))
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("read", errno)
            }
            digests.update(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
        }
        return digests
    }
}
