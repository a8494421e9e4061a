import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// The transfer of a stream waits for its reader, and the idle timeout counts while the reader waits.
@Suite("Streams: back-pressure", .limited)
struct StreamPressureTests {
    /// The largest chunk that a transport delivers, and the limit of the channel.
    private static let bound: Int64 = 1 << 20

    @Test(arguments: TransportKind.wire)
    func serverWaitsForASlowReader(kind: TransportKind) async throws {
        let body = pattern(32 << 20)
        let chunks = stride(from: 0, to: body.count, by: 64 << 10).map {
            Data(body.dropFirst($0).prefix(64 << 10))
        }
        try await StreamFixture.with(kind) { fixture async throws in
            let other = LoopbackServer()
            other.otherwise { _ in LoopbackResponse(body: "x") }
            try await other.start()
            fixture.server.otherwise { _ in .chunked(chunks) }
            let stream = try await fixture.open()
            // The server has the time of these requests, and of more until it stops sending.
            var sent: Int64 = -1
            while sent != fixture.server.status.bytesSent {
                sent = fixture.server.status.bytesSent
                for _ in 0..<100 {
                    var request = RequestDescription(endpoint: "Other", url: other.baseURL)
                    request.acceptance.format = .any
                    _ = try await fixture.agent.start(request).response()
                }
            }
            if kind.capabilities.contains(.connectionPause) {
                // The server can only fill the socket buffers.
                #expect(sent < 24 << 20)
            }
            #expect(stream.body.channel.received <= Self.bound)
            var received = Data()
            while let chunk = try await stream.next() {
                #expect(chunk.count <= Self.bound)
                received += chunk
            }
            #expect(haveSameBytes(received, body))
            #expect(stream.body.channel.received == body.count)
            await other.stop()
        }
    }

    @Test(arguments: TransportKind.wire)
    func idleTimeoutCountsOnlyWhileTheReaderWaits(kind: TransportKind) async throws {
        let idle = Duration.milliseconds(400)
        try await StreamFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.server.otherwise { _ in
                .chunked([Data("one".utf8), Data("two".utf8)], gates: [gate, Gate()])
            }
            var opened: StreamFixture.Opened?
            // On a loaded machine the timeout may expire before the first bytes arrive: then try again.
            for _ in 0..<20 where opened == nil {
                let stream = try? await fixture.open {
                    $0.timeouts = Timeouts(connect: .seconds(30), idle: idle)
                }
                if let stream, let chunk = try? await stream.read(3), chunk == Data("one".utf8) {
                    opened = stream
                }
            }
            let stream = try #require(opened)
            try await fixture.pass(idle * 3)
            #expect(stream.task.phase != .ended)
            gate.open()
            // The bytes are here before the reader asks for them, so that it does not wait.
            for await progress in stream.task.progress where progress.bytesReceived == 6 { break }
            #expect(try await stream.read(3) == Data("two".utf8))
            // The server is silent again, and the reader does not wait.
            try await fixture.pass(idle * 3)
            #expect(stream.task.phase != .ended)
            let start = ContinuousClock.now
            let error = await #expect(throws: RequestError.self) { try await stream.next() }
            #expect(start.duration(to: .now) >= idle)
            #expect(error?.code == .timedOut && error?.timeout == .idle)
            #expect(error?.bytesReceived == 6)
        }
    }
}
