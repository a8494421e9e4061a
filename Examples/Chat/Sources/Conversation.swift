import Errand
import Foundation
import Synchronization

/// One person in a room, whose connection is replaced when it is lost.
final class Conversation: Sendable {
    private let address: String
    private let agent: RequestAgent
    private let name: String
    /// The open connection; `nil` while there is none.
    private let socket = Mutex<WebSocket<Line, Line>?>(nil)

    /// - Parameter address: The URL of the room.
    init(_ address: String, _ agent: RequestAgent, name: String) {
        (self.address, self.agent, self.name) = (address, agent, name)
    }

    /// Prints the messages of the room until the conversation is closed.
    func read() async throws {
        for try await socket in Room(address).connections(on: agent) {
            self.socket.withLock { $0 = socket }
            defer { self.socket.withLock { $0 = nil } }
            show("* connected, subprotocol \(socket.subprotocol ?? "none")")
            for try await line in socket.messages { show("\(line.from): \(line.text)") }
            // The sequence of connections decides whether there is another one.
            if let end = socket.closed { show("* closed with \(end.code), '\(end.reason)'") }
        }
        show("* closed")
    }

    /// Sends a line, or performs a command.
    func type(_ text: String) async {
        guard let socket = socket.withLock({ $0 }) else {
            return show("* not sent: there is no connection")
        }
        if text == "/ping" {
            let time = socket.roundTrip.map { "\($0)" } ?? "not measured yet"
            return show("* round trip: \(time)")
        }
        do {
            try await socket.send(Line(from: name, text: text))
        } catch {
            show("* not sent: \(error.message)")
        }
    }

    /// Closes the connection with 1000; returns false if there is none.
    func close() -> Bool {
        guard let socket = socket.withLock({ $0 }) else { return false }
        socket.close(reason: "bye")
        return true
    }
}

/// Prints a line at once, also to a pipe.
func show(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
