package import ErrandHTTP
package import ErrandSystem
import ErrandTransport

extension BodyChannel {
    /// The number of bytes that are read at once (256 KiB).
    private static let readBytes = 256 << 10

    /// Creates a channel for a body that is read in pieces, for example from a store.
    ///
    /// The next piece is read when the reader has taken half of the buffer.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - read: Returns the bytes of a range. Its error is the end of the body.
    ///   - atEnd: Awaited before the reader gets the end: after the last piece, or with the error.
    package static func reading(
        count: Int, _ read: @escaping @Sendable (Range<Int>) async throws(RequestError) -> Data,
        atEnd: @escaping @Sendable (RequestError?) async -> Void
    ) -> BodyChannel {
        let (resumptions, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let channel = BodyChannel(
            resume: { continuation.yield() }, cancel: { continuation.finish() })
        Task {
            let error = await channel.fill(count, resumptions, read)
            channel.transferEnded(TransferEnd(error: error))
            await atEnd(error)
            channel.close(error)
        }
        return channel
    }

    private func fill(
        _ count: Int, _ resumptions: AsyncStream<Void>,
        _ read: (Range<Int>) async throws(RequestError) -> Data
    ) async -> RequestError? {
        var iterator = resumptions.makeAsyncIterator()
        var offset = 0
        while offset < count {
            let range = offset..<min(offset + Self.readBytes, count)
            let bytes: Data
            do throws(RequestError) { bytes = try await read(range) } catch { return error }
            offset = range.upperBound
            switch bytes.withUnsafeBytes({ receive($0) }) {
            case .more: continue
            // The stream ends when the reader has left.
            case .pause: if offset < count, await iterator.next() == nil { return .cancelled }
            case .stop: return .cancelled
            }
        }
        return nil
    }
}
