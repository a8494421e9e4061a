public import ErrandCore
public import ErrandSystem
import ErrandTransport
public import HTTPTypes

extension TransportRequest {
    /// Reads the request's body like a transport; empty without a body.
    ///
    ///     let sent = try await transport.requests[0].collectedBody()
    ///
    /// - Throws: `RequestError` if the body cannot be read.
    public func collectedBody() async throws -> Data { try await collectedBodyAndTrailers().body }

    /// Reads the request's body like a transport, and then its trailers; empty without a body.
    ///
    ///     let sent = try await transport.requests[0].collectedBodyAndTrailers()
    ///     #expect(sent.trailers[.init("X-Row-Count")!] == "3")
    ///
    /// The closures of ``HTTPBody/trailers(_:fields:)`` are called again.
    ///
    /// - Throws: `RequestError` if the body cannot be read, or a trailer is invalid.
    public func collectedBodyAndTrailers() async throws -> (body: Data, trailers: HTTPFields) {
        guard let source = try body?.makeSource(sendsTrailers: true) else { return (Data(), [:]) }
        defer { source.close() }
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            switch buffer.withUnsafeMutableBytes({ source.read(into: $0) }) {
            case .bytes(let count): bytes.append(contentsOf: buffer[..<count])
            case .end: return (bytes, source.trailers)
            case .failed(let error): throw error
            case .wait:
                await withCheckedContinuation { continuation in
                    source.whenReadable { continuation.resume() }
                }
            }
        }
    }
}
