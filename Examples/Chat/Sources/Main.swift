import Errand
import ErrandInspector
import Foundation

/// A chat in the terminal: `Chat URL NAME [--inspect]`.
@main
enum Chat {
    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isInspected = arguments.contains("--inspect")
        arguments.removeAll { $0 == "--inspect" }
        guard arguments.count == 2 else {
            show("usage: Chat ws://HOST:PORT/ROOM NAME [--inspect]")
            exit(64)
        }
        do {
            try await talk(arguments[0], arguments[1], isInspected)
        } catch {
            show("! \(error)")
            exit(1)
        }
    }

    private static func talk(
        _ address: String, _ name: String, _ isInspected: Bool
    ) async throws {
        let agent = RequestAgent()
        let inspector = isInspected ? try await inspect(agent) : nil
        let conversation = Conversation(address, agent, name: name)
        let reading = Task { try await conversation.read() }
        for await text in keyboard() where !text.isEmpty {
            if text == "/quit" { break }
            await conversation.type(text)
        }
        // Without a connection, the next one is waited for.
        if !conversation.close() { reading.cancel() }
        do {
            try await reading.value
        } catch let error as RequestError where error.code == .cancelled {}
        await inspector?.stop()
        await agent.shutdown()
    }

    /// Starts an inspector; the messages are in a tab of the request.
    private static func inspect(_ agent: RequestAgent) async throws -> Inspector {
        var options = Inspector.Options()
        options.printsURL = false
        let inspector = try await Inspector.start(agent, options: options)
        show("* inspector: \(inspector.url)")
        return inspector
    }

    /// The lines of the standard input, until its end.
    private static func keyboard() -> AsyncStream<String> {
        AsyncStream { lines in
            // Reading blocks its thread.
            Thread.detachNewThread {
                while let line = readLine() { lines.yield(line) }
                lines.finish()
            }
        }
    }
}
