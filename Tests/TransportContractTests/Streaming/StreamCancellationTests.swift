import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// A stream that is left closes its connection.
@Suite("Streams: cancellation", .limited)
struct StreamCancellationTests {
    /// How the reader leaves a stream.
    enum Departure: String, CaseIterable, Sendable {
        case leavesLoop, releasesStream, releasesUnreadStream, cancelsRequest, cancelsReadingTask
    }

    @Test(arguments: TransportKind.wire, Departure.allCases)
    func connectionIsClosed(kind: TransportKind, departure: Departure) async throws {
        try await StreamFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.server.otherwise { _ in .events(["data: 1"], gates: [gate]) }
            let task = try await leave(fixture, departure)
            try await fixture.server.until { $0.open == 0 }
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .cancelled)
            #expect(!gate.isOpen)
        }
    }

    /// Opens a stream and leaves it; the stream is released when this returns.
    private func leave(
        _ fixture: StreamFixture, _ departure: Departure
    ) async throws -> RequestTask {
        let stream = try await fixture.open()
        let task = stream.task
        if departure == .releasesUnreadStream { return task }
        #expect(try await stream.read(9) == Data("data: 1\n\n".utf8))
        switch departure {
        case .releasesStream, .releasesUnreadStream: break
        case .leavesLoop: stream.body.channel.leave()
        case .cancelsRequest:
            task.cancel()
            await expectCancellation { try await stream.next() }
        case .cancelsReadingTask:
            let reader = Task { await expectCancellation { try await stream.next() } }
            // The reader may wait already, or not yet: both must end.
            reader.cancel()
            await reader.value
        }
        return task
    }

    private func expectCancellation(_ read: () async throws -> Data?) async {
        let error = await #expect(throws: RequestError.self) { try await read() }
        #expect(error?.code == .cancelled)
    }

    @Test(arguments: TransportKind.wire)
    func cancellationBeforeTheHeadClosesTheConnection(kind: TransportKind) async throws {
        try await StreamFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.server.otherwise { _ in .silence(until: gate) }
            let opening = Task { try await fixture.open() }
            try await gate.reached()
            opening.cancel()
            let error = await #expect(throws: RequestError.self) { try await opening.value }
            #expect(error?.code == .cancelled)
            try await fixture.server.until { $0.open == 0 }
        }
    }
}
