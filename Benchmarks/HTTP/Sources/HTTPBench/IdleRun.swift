import Errand
import Foundation
import Synchronization

/// An endpoint whose connections are idle most of the time.
final class Idle: BaseRequest, MessageEndpoint {
    typealias Incoming = String
    typealias Outgoing = String

    private let job: Job

    init(_ job: Job) { self.job = job }

    override var url: EndpointURL { job.url }
    var webSocket: WebSocketOptions {
        WebSocketOptions(
            compression: job.workload == "IC" ? .deflate : .none, pingInterval: .seconds(5))
    }
}

/// Opens WebSockets, exchanges one message on each, and measures the memory of a connection: the difference between
/// twice as many connections and once as many.
struct IdleRun {
    let job: Job
    let agent: RequestAgent

    /// The number of failures.
    func run(_ meter: inout Meter) async -> Int {
        do {
            let first = try await Group(job, agent)
            try await first.exchange()
            await first.rest()
            let before = Meter.memory("VmRSS")
            let note = { (meter: inout Meter, moment: String) in
                meter.note(
                    "kb_\(moment)", Double(Meter.memory("VmRSS") - before) / Double(job.count))
            }
            let second = try await Group(job, agent)
            note(&meter, "open")
            try await second.exchange()
            note(&meter, "used")
            await second.rest()
            note(&meter, "idle")
            return first.lost + second.lost
        } catch {
            print(error)
            return 1
        }
    }

    /// Open connections, each with a task that waits for the next message.
    private final class Group: Sendable {
        private let sockets: [WebSocket<String, String>]
        private let text: String
        private let received = Atomic<Int>(0)
        private let ended = Atomic<Int>(0)

        /// The number of connections that have ended.
        var lost: Int { ended.load(ordering: .relaxed) }

        init(_ job: Job, _ agent: RequestAgent) async throws {
            // Text of JSON, which is compressed to about a third.
            text = String(
                (0..<job.size / 10).map { "{\"id\":\($0 * 7919 % 9973)}," }.joined()
                    .prefix(job.size))
            var sockets: [WebSocket<String, String>] = []
            while sockets.count < job.count {
                // As many at once as the server accepts.
                sockets += try await withThrowingTaskGroup(of: WebSocket<String, String>.self) {
                    group in
                    for _ in 0..<min(50, job.count - sockets.count) {
                        group.addTask { try await Idle(job).connect(on: agent) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            self.sockets = sockets
            for socket in sockets {
                // The messages keep the connection open.
                let messages = socket.messages
                Task {
                    var messages = messages.makeAsyncIterator()
                    while (try? await messages.next()) != nil {
                        received.add(1, ordering: .relaxed)
                    }
                    ended.add(1, ordering: .relaxed)
                }
            }
        }

        /// Sends a message on each connection and waits for the echoes.
        func exchange() async throws {
            for socket in sockets { try await socket.send(text) }
            while received.load(ordering: .relaxed) + lost < sockets.count { await pause() }
        }

        /// Waits until each connection has had a PING and its PONG since the messages.
        func rest() async {
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .seconds(6)
                || sockets.contains(where: { $0.roundTrip == nil }) && lost == 0
            {
                await pause()
            }
        }

        private func pause() async { try? await Task.sleep(for: .milliseconds(20)) }
    }
}
