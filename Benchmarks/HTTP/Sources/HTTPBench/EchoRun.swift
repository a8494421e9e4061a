import Errand
import Foundation

/// An endpoint whose server returns each message.
final class Echo: BaseRequest, MessageEndpoint {
    typealias Incoming = Data
    typealias Outgoing = Data

    private let target: EndpointURL

    init(_ target: EndpointURL) { self.target = target }

    override var url: EndpointURL { target }
    var webSocket: WebSocketOptions {
        WebSocketOptions(compression: .none, maximumMessageBytes: 4 << 20, pingInterval: nil)
    }
}

/// Sends messages over one WebSocket and reads their echoes.
struct EchoRun {
    let job: Job
    let agent: RequestAgent

    /// The number of failures and of wrong messages.
    func run() async -> Int {
        do {
            return try await echo()
        } catch {
            print(error)
            return 1
        }
    }

    private func echo() async throws -> Int {
        let message = Data(repeating: 0x78, count: job.size)
        let socket = try await Echo(job.url).connect(on: agent)
        var sent = min(job.inFlight, job.count)
        for _ in 0..<sent { try await socket.send(message) }
        var (received, bad) = (0, 0)
        for try await echo in socket.messages {
            received += 1
            if echo.count != job.size { bad += 1 }
            if sent < job.count {
                try await socket.send(message)
                sent += 1
            }
            if received == job.count { break }
        }
        return bad + job.count - received
    }
}
