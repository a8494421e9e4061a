import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// HTTP/2 responses without a length that break off before END_STREAM (RFC 9113 §8.1).
@Suite(.limited)
struct TruncatedStreamTests {
    /// The way in which the response ends.
    enum Ending: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case whole, wholeThenClosed, wholeAfterGoAway
        case closed, reset, goAway, cancelled, refused
        case stopped, garbage

        var testDescription: String { rawValue }

        func write(to connection: RawConnection, _ stream: UInt32) {
            switch self {
            case .whole, .wholeThenClosed: end(connection, stream)
            case .wholeAfterGoAway:
                goAway(connection, stream)
                end(connection, stream)
            case .closed: connection.close()
            case .reset: connection.reset()
            case .goAway:
                goAway(connection, stream)
                connection.close()
            case .cancelled: reset(connection, stream, 8)
            case .refused: reset(connection, stream, 7)
            case .stopped: reset(connection, stream, 0)
            case .garbage:
                // DATA on stream 0.
                connection.write(RawFrame(kind: RawFrame.Kind.data, payload: [0x78]))
            }
            if self == .wholeThenClosed { connection.close() }
        }

        private func end(_ connection: RawConnection, _ stream: UInt32) {
            connection.write(
                RawFrame(kind: RawFrame.Kind.data, flags: RawFrame.endOfStream, stream: stream))
        }

        private func reset(_ connection: RawConnection, _ stream: UInt32, _ code: UInt32) {
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.reset, stream: stream, payload: RawFrame.number(code)))
        }

        private func goAway(_ connection: RawConnection, _ stream: UInt32) {
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.goAway,
                    payload: RawFrame.number(stream) + RawFrame.number(0)))
        }
    }

    /// A server whose response ends in this way after the semaphore was signalled.
    private func server(_ ending: Ending, after hasBegun: DispatchSemaphore) throws -> RawServer {
        try RawServer { connection in
            guard connection.exchangePrefaces(), let stream = connection.readRequest() else {
                return
            }
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.headers, flags: RawFrame.endOfHeaders, stream: stream,
                    payload: RawFrame.status200))
            connection.write(
                RawFrame(kind: RawFrame.Kind.data, stream: stream, payload: Array("xxxx".utf8)))
            // Unread input would turn a close into a reset.
            connection.readSettingsAcknowledgement()
            hasBegun.wait()
            ending.write(to: connection, stream)
            connection.waitForClose()
        }
    }

    /// Runs a request whose response ends in this way after its first bytes were received.
    private func run(
        _ ending: Ending, _ method: HTTPMethod = .get
    ) async throws -> RecordingReceiver.Record {
        let hasBegun = DispatchSemaphore(value: 0)
        let server = try server(ending, after: hasBegun)
        var request = TransportRequest(method: method, url: try .test(server.url()))
        request.options.httpVersion = .http2PriorKnowledge
        request.options.mayReplay = method.isIdempotent
        request.timeouts.idle = .seconds(200)
        let recorder = RecordingReceiver()
        _ = CurlTransport().start(request, receiver: recorder)
        try await recorder.until { $0.received > 0 || $0.end != nil }
        hasBegun.signal()
        return try await recorder.ended()
    }

    @Test(
        arguments: [Ending.whole, .wholeThenClosed, .wholeAfterGoAway], [HTTPMethod.get, .post])
    func wholeResponseSucceeds(ending: Ending, method: HTTPMethod) async throws {
        let record = try await run(ending, method)
        #expect(record.error == nil, "\(record.errorText)")
        #expect(record.text == "xxxx")
    }

    @Test(arguments: [Ending.closed, .goAway], [HTTPMethod.get, .post])
    func closedConnectionTruncates(ending: Ending, method: HTTPMethod) async throws {
        let record = try await run(ending, method)
        #expect(record.error?.code == .truncatedBody, "\(record.errorText)")
        #expect(record.text == "xxxx")
    }

    @Test(arguments: [Ending.reset, .cancelled, .refused], [HTTPMethod.get, .post])
    func resetIsConnectionLost(ending: Ending, method: HTTPMethod) async throws {
        let record = try await run(ending, method)
        #expect(record.error?.code == .connectionLost, "\(record.errorText)")
        #expect(record.text == "xxxx")
    }

    /// The server states that it ends the stream, or breaks the protocol, before the end of the response.
    @Test(arguments: [
        (Ending.stopped, RequestError.Code.connectionLost), (.garbage, .badServerResponse),
    ])
    func endBeforeTheEndOfTheStreamFails(ending: Ending, code: RequestError.Code) async throws {
        let record = try await run(ending)
        #expect(record.error?.code == code, "\(record.errorText)")
        #expect(record.text == "xxxx")
    }
}
