import ErrandCore
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Many faults in a row: what each of them leaves behind would show in memory and descriptors.
@Suite("Contract: endurance", .timeLimit(.minutes(2)))
struct SoakContract {
    /// Rounds to warm up with, and rounds that must cost nothing.
    private static let (warmUp, rounds) = (400, 10_000)

    /// What libraries keep of each request is known and small (`docs/transports.md`); a leaked buffer or
    /// connection is many times this.
    private static let bytesForEach = 1024

    @Test(arguments: Subject.wire)
    func requestsAtEveryByteOfAnAnswer(subject: Subject) async throws {
        let text =
            "HTTP/1.1 200 OK\r\nX-A: b\r\nX-C: d\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "3\r\nabc\r\n5\r\nabcde\r\n0\r\n\r\n"
        let head = try #require(text.range(of: "\r\n\r\n")).upperBound
        let headLength = text[..<head].utf8.count
        try await ContractWorld.with(subject) { world async throws in
            // Within the head FoundationNetworking ends the process; see docs/transports.md.
            let first = subject.capabilities.contains(.cutOffHead) ? 0 : headLength
            for count in first...text.utf8.count {
                for isReset in [true, false] {
                    world.server.otherwise { _ in
                        let answer = LoopbackAnswer.raw(text)
                        return isReset
                            ? answer.reset(afterBytes: count) : answer.cut(afterBytes: count)
                    }
                    let record = try await world.run(world.request())
                    guard let error = record.end?.error else {
                        // A reset may overtake nothing: the last chunk has said that this is all.
                        #expect(record.body == Data("abcabcde".utf8), "\(count)")
                        #expect(count >= text.utf8.count - 4, "\(count)")
                        continue
                    }
                    #expect(
                        [.connectionLost, .truncatedBody].contains(error.code),
                        "\(count): \(error)")
                    #expect((record.head == nil) == (count < headLength) || isReset, "\(count)")
                }
            }
            world.server.otherwise { _ in .raw(text) }
            #expect(try await world.succeed(world.request()).body == Data("abcabcde".utf8))
        }
    }

    @Test(arguments: Subject.wire)
    func aThousandCancellationsInFlight(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.route("/never") { _ in .silence(until: Gate()) }
            world.server.route("/fine") { _ in LoopbackAnswer(body: "fine") }
            let started = (0..<1000).map { _ in world.start(world.request(.get, "/never")) }
            // Some wait for their answer by now, others for a connection.
            try await world.server.until { $0.requests > 0 }
            for (transfer, _) in started { transfer.cancel() }
            for (_, receiver) in started {
                #expect(try await receiver.ended().end?.error?.code == .cancelled)
            }
            let record = try await world.succeed(world.request(.get, "/fine"))
            #expect(record.body == Data("fine".utf8))
        }
    }

    @Test(arguments: Subject.wire)
    func fiveThousandFields(subject: Subject) async throws {
        let lines = (0..<5000).map { "X-\($0): value \($0)\r\n" }.joined()
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                .raw("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 2\r\n\r\nhi")
            }
            let headers = try #require(try await world.succeed(world.request()).head).headers
            #expect(headers.count == 5001)
            let last = try #require(HTTPField.Name("X-4999"))
            #expect(headers[last] == "value 4999")
        }
    }

    /// Lines up to the limit that a request sets, and what no limit of ours lets through: libcurl's own is 100 KB.
    @Test(arguments: Subject.wire)
    func longHeaderLines(subject: Subject) async throws {
        @Sendable func text(_ length: Int) -> String {
            let value = String(repeating: "v", count: length)
            return "HTTP/1.1 200 OK\r\nX-Long: \(value)\r\nContent-Length: 2\r\n\r\nhi"
        }
        try await ContractWorld.with(subject) { world async throws in
            for (length, limit, isFine) in [
                (90_000, 256 << 10, true), (90_000, 80_000, false), (1 << 20, 256 << 10, false),
                (1 << 20, 4 << 20, false),
            ] {
                world.server.otherwise { _ in .raw(text(length)) }
                var request = world.request()
                request.options.maximumHeadBytes = limit
                if isFine {
                    _ = try await world.succeed(request)
                } else {
                    try await world.fail(request, .badServerResponse)
                }
            }
            world.server.otherwise { _ in LoopbackAnswer() }
            _ = try await world.succeed(world.request())
        }
    }

    #if os(Linux)
        private enum Fault: String { case refused, reset }

        private static func resident() -> Int {
            let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let pages = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        }

        private static func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }

        /// In a process of its own, so that nothing else grows meanwhile.
        private static func endure(_ subject: Subject, _ fault: Fault) async throws {
            let dead = try DeadPort.Refusing()
            defer { withExtendedLifetime(dead) {} }
            let closed = dead.port
            let server = LoopbackServer()
            server.otherwise { _ in .reset }
            try await server.start()
            let transport = subject.makeTransport()
            let port = fault == .refused ? closed : server.port
            let url = URI(scheme: "http", host: "127.0.0.1", port: port, path: "/")
            func run(_ count: Int) async throws {
                for _ in 0..<count {
                    let receiver = RecordingReceiver()
                    _ = transport.start(TransportRequest(url: url), receiver: receiver)
                    let record = try await receiver.ended()
                    guard record.end?.error != nil, record.ends == 1 else { exit(3) }
                }
            }
            try await run(warmUp)
            let (memory, open) = (resident(), try descriptors())
            try await run(rounds)
            let grown = resident() - memory
            // A sanitizer remembers every access in memory of its own.
            let isMeasured = getenv("ERRAND_SANITIZER") == nil
            guard !isMeasured || grown < rounds * bytesForEach else {
                FileHandle.standardError.write(Data("grew by \(grown) bytes\n".utf8))
                exit(4)
            }
            // A connection that was reset closes a little after its answer's end.
            var left = 10_000
            while try descriptors() > open, left > 0 {
                left -= 1
                usleep(1000)
            }
            guard try descriptors() <= open else { exit(5) }
            await server.stop()
        }

        @Test func curlEnduresRefusals() async {
            await #expect(processExitsWith: .success) { try await Self.endure(.curl, .refused) }
        }

        @Test func curlEnduresResets() async {
            await #expect(processExitsWith: .success) { try await Self.endure(.curl, .reset) }
        }

        @Test func urlSessionEnduresRefusals() async {
            await #expect(processExitsWith: .success) {
                try await Self.endure(.urlSession, .refused)
            }
        }

        @Test func urlSessionEnduresResets() async {
            await #expect(processExitsWith: .success) {
                try await Self.endure(.urlSession, .reset)
            }
        }
    #endif
}
