public import ErrandCore
public import Foundation

extension TransportRequest {
    /// The bytes of the request's body, read as a transport would read them; empty when there is none.
    ///
    ///     let sent = try await transport.requests[0].collectedBody()
    ///
    /// - Throws: `RequestError` when the body cannot be read.
    public func collectedBody() async throws -> Data {
        guard let source = try body?.makeSource() else { return Data() }
        defer { source.close() }
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            switch buffer.withUnsafeMutableBytes({ source.read(into: $0) }) {
            case .bytes(let count): bytes.append(contentsOf: buffer[..<count])
            case .end: return bytes
            case .failed(let error): throw error
            case .wait:
                await withCheckedContinuation { continuation in
                    source.whenReadable { continuation.resume() }
                }
            }
        }
    }
}
