import ErrandHTTP

@testable import ErrandWebSocket

// The client of one run: AutobahnClient PORT [CASE...]. It runs all cases of the fuzzing server, or the numbers that
// are given, and asks the server for its reports. Scripts/autobahn starts the server and reads them.

/// The messages of a connection that the server ends.
func messages(_ port: Int, _ target: String) throws -> [String] {
    let socket = try BlockingWebSocket(port: port, target: target)
    var messages: [String] = []
    while let message = try socket.receive() {
        messages.append(String(decoding: message.bytes, as: UTF8.self))
    }
    return messages
}

/// Returns each message to the server, which judges and closes the connection.
func run(_ port: Int, _ number: Int) throws {
    var limits = WebSocketState.Limits()
    // The largest message of the suite.
    limits.messageBytes = 16 << 20
    var deflate = DeflateExtension()
    deflate.threshold = 1
    deflate.clientWindowBits = 15
    let socket = try BlockingWebSocket(
        port: port, target: "/runCase?case=\(number)&agent=errand", deflate: deflate,
        limits: limits)
    while let message = try socket.receive() {
        // A case that closes the connection expects no more.
        do { try socket.send(message) } catch { break }
    }
}

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard let port = arguments.first else {
    print("usage: AutobahnClient PORT [CASE...]")
    throw BlockingWebSocket.Failure(description: "no port")
}
let count = try messages(port, "/getCaseCount").first.flatMap { Int($0) } ?? 0
for number in arguments.count > 1 ? Array(arguments.dropFirst()) : Array(1...max(1, count)) {
    do { try run(port, number) } catch { print("case \(number): \(error)") }
}
_ = try messages(port, "/updateReports?agent=errand")
