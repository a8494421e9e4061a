public import ErrandCore
import ErrandTransport
public import Foundation

extension TransportRequest {
    /// Reads the request's body like a transport; empty without a body.
    ///
    ///     let sent = try await transport.requests[0].collectedBody()
    ///
    /// - Throws: `RequestError` if the body cannot be read.
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
