public import ErrandHTTP
public import ErrandSystem
import ErrandTransport

extension HTTPBody {
    /// Reads the whole body, for example to sign or encrypt it in a request processor.
    ///
    /// Trailers are not part of it. A stream is created once for this and again for sending; one
    /// that is not replayable is consumed.
    ///
    /// - Parameter limit: The maximum size in bytes (default 64 MiB).
    /// - Throws: ``RequestError/Code/invalidBody`` if the body cannot be opened,
    ///   ``RequestError/Code/bodyReadFailed`` if it cannot be read,
    ///   ``RequestError/Code/bodyTooLarge`` above the limit.
    public func bytes(limit: Int = 64 << 20) async throws(RequestError) -> Data {
        if case .data(let data) = storage, data.count <= limit { return data }
        let source = try makeContentSource()
        defer { source.close() }
        var collected = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            switch buffer.withUnsafeMutableBytes({ source.read(into: $0) }) {
            case .bytes(let count):
                guard collected.count + count <= limit else {
                    throw RequestError(
                        .bodyTooLarge, stage: .adapt,
                        "The request body exceeds the limit of \(limit) bytes for reading it into memory."
                    )
                }
                collected.append(contentsOf: buffer[..<count])
            case .end: return collected
            case .wait:
                await withCheckedContinuation { continuation in
                    source.whenReadable { continuation.resume() }
                }
            case .failed(let error): throw error
            }
        }
    }
}
