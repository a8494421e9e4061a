public import Foundation

extension HTTPBody {
    /// The body's bytes, all of them, read as a transport would: what a request processor signs or encrypts.
    ///
    /// A stream is made anew for it, and once more for sending; one that can be made only once is spent by it.
    ///
    /// - Parameter limit: The most bytes that are collected (default 64 MiB).
    /// - Throws: ``RequestError/Code/invalidBody`` for what cannot be opened, ``RequestError/Code/bodyReadFailed`` for
    ///   what cannot be read, ``RequestError/Code/bodyTooLarge`` beyond the limit.
    public func bytes(limit: Int = 64 << 20) async throws(RequestError) -> Data {
        if case .data(let data) = storage, data.count <= limit { return data }
        let source = try makeSource()
        defer { source.close() }
        var collected = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            switch buffer.withUnsafeMutableBytes({ source.read(into: $0) }) {
            case .bytes(let count):
                guard collected.count + count <= limit else {
                    throw RequestError(
                        .bodyTooLarge, stage: .adapt,
                        "The request's body is longer than the \(limit) bytes that may be collected in memory."
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
