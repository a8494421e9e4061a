import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ErrandCurl

/// The stream of an extended CONNECT belongs to its receiver (RFC 8441).
@Suite(.limited)
struct ExtendedConnectTests {
    private let transport = CurlTransport()

    private func request(_ server: RawServer) throws -> TransportRequest {
        var request = TransportRequest(url: try HTTPURL.test(server.url()))
        request.headers[.upgrade] = "echo"
        request.headers[.connection] = "upgrade"
        if let key = HTTPField.Name("Sec-WebSocket-Key") { request.headers[key] = "secret" }
        request.options.httpVersion = .http2PriorKnowledge
        return request
    }

    /// Reads the preface and sends SETTINGS_ENABLE_CONNECT_PROTOCOL.
    private func exchangePrefaces(_ connection: RawConnection, allows: Bool) -> Bool {
        guard connection.readBody(24).count == 24 else { return false }
        connection.write(
            RawFrame(
                kind: RawFrame.Kind.settings, payload: allows ? [0, 8, 0, 0, 0, 1] : []))
        return true
    }

    /// The next frame of a stream.
    private func next(_ connection: RawConnection) -> RawFrame? {
        while let frame = connection.readFrame() {
            if frame.stream != 0, frame.kind == 0 || frame.kind == RawFrame.Kind.headers {
                return frame
            }
        }
        return nil
    }

    @Test(arguments: [false, true])
    func bytesFlowInBothDirectionsAndBothSidesEnd(serverEndsFirst: Bool) async throws {
        let head = Mutex<RawFrame?>(nil)
        let server = try RawServer { connection in
            guard exchangePrefaces(connection, allows: true), let frame = next(connection) else {
                return
            }
            head.withLock { $0 = frame }
            let stream = frame.stream
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.headers, flags: RawFrame.endOfHeaders, stream: stream,
                    payload: RawFrame.status200))
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.data, flags: serverEndsFirst ? RawFrame.endOfStream : 0,
                    stream: stream, payload: Array("hello".utf8)))
            while let frame = next(connection) {
                guard !serverEndsFirst || !frame.endsStream else { break }
                if serverEndsFirst { continue }
                connection.write(
                    RawFrame(
                        kind: RawFrame.Kind.data,
                        flags: frame.endsStream ? RawFrame.endOfStream : 0, stream: stream,
                        payload: frame.payload))
                if frame.endsStream { break }
            }
            connection.waitForClose()
        }
        let owner = RecordingOwner(extendedProtocol: "websocket")
        _ = transport.start(try request(server), receiver: owner)
        var record = try await owner.until { $0.input.count == 5 && !$0.heads.isEmpty }
        #expect(record.heads.map(\.status.code) == [200] && record.finalHeads == 0)
        if serverEndsFirst { _ = try await owner.until { $0.hasInputEnded } }
        owner.send("one")
        if !serverEndsFirst { _ = try await owner.until { $0.input.count == 8 } }
        owner.sending.finish()
        record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.ends.count == 1 && record.ends[0].error == nil)
        #expect(record.hasInputEnded)
        #expect(record.input == Data((serverEndsFirst ? "hello" : "helloone").utf8))
        let frame = try #require(head.withLock { $0 })
        #expect(!frame.endsStream)
    }

    /// One stream ends or is reset; another one of the same connection goes on.
    @Test(arguments: [false, true])
    func twoStreamsAreIndependent(isReset: Bool) async throws {
        let server = try RawServer { connection in
            guard exchangePrefaces(connection, allows: true), let first = next(connection) else {
                return
            }
            var ended = 0
            accept(first.stream, connection)
            while let frame = next(connection) {
                guard frame.kind == RawFrame.Kind.data else {
                    accept(frame.stream, connection)
                    continue
                }
                let isEnd = frame.endsStream
                if isEnd, frame.stream == first.stream, isReset {
                    connection.write(
                        RawFrame(
                            kind: RawFrame.Kind.reset, stream: frame.stream, payload: [0, 0, 0, 8]))
                } else {
                    connection.write(
                        RawFrame(
                            kind: RawFrame.Kind.data, flags: isEnd ? RawFrame.endOfStream : 0,
                            stream: frame.stream, payload: frame.payload))
                }
                ended += isEnd ? 1 : 0
                if ended == 2 { break }
            }
            connection.waitForClose()
        }
        let owners = (0..<2).map { _ in RecordingOwner(extendedProtocol: "websocket") }
        for owner in owners {
            _ = transport.start(try request(server), receiver: owner)
            _ = try await owner.until { !$0.heads.isEmpty }
        }
        owners[0].sending.finish()
        var record = try await owners[0].until { !$0.ends.isEmpty }
        #expect((record.ends[0].error != nil) == isReset)
        owners[1].send("hello")
        record = try await owners[1].until { $0.input.count == 5 }
        owners[1].sending.finish()
        record = try await owners[1].until { !$0.ends.isEmpty }
        #expect(record.ends[0].error == nil && record.input == Data("hello".utf8))
        #expect(server.connections == 1)
    }

    private func accept(_ stream: UInt32, _ connection: RawConnection) {
        connection.write(
            RawFrame(
                kind: RawFrame.Kind.headers, flags: RawFrame.endOfHeaders, stream: stream,
                payload: RawFrame.status200))
    }

    /// The client waits for SETTINGS, and sends nothing if they do not allow the method.
    @Test func serverMustAllowIt() async throws {
        let hasRequest = Mutex(false)
        let server = try RawServer { connection in
            guard exchangePrefaces(connection, allows: false) else { return }
            if next(connection) != nil { hasRequest.withLock { $0 = true } }
        }
        let owner = RecordingOwner(extendedProtocol: "websocket")
        _ = transport.start(try request(server), receiver: owner)
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.ends[0].error?.code == .unsupported)
        #expect(record.heads.isEmpty && !hasRequest.withLock { $0 })
    }

    /// A refusal is an ordinary response.
    @Test func refusalIsAResponse() async throws {
        let server = try RawServer { connection in
            guard exchangePrefaces(connection, allows: true), let frame = next(connection) else {
                return
            }
            // `:status: 404` of the static table.
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.headers,
                    flags: RawFrame.endOfHeaders | RawFrame.endOfStream, stream: frame.stream,
                    payload: [0x8D]))
            connection.waitForClose()
        }
        let owner = RecordingOwner(extendedProtocol: "websocket")
        _ = transport.start(try request(server), receiver: owner)
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.heads.isEmpty && record.finalHeads == 1)
        #expect(record.ends[0].error == nil)
    }

    /// The stream or its connection ends while the receiver takes no input: the source of the output is closed, though
    /// the end waits behind the input.
    @Test(arguments: [false, true])
    func outputIsLostWhileInputIsPaused(isReset: Bool) async throws {
        let server = try RawServer { connection in
            guard exchangePrefaces(connection, allows: true), let frame = next(connection) else {
                return
            }
            accept(frame.stream, connection)
            for text in ["one", "two"] {
                connection.write(
                    RawFrame(
                        kind: RawFrame.Kind.data, stream: frame.stream, payload: Array(text.utf8)))
            }
            guard isReset else { return }
            connection.write(
                RawFrame(kind: RawFrame.Kind.reset, stream: frame.stream, payload: [0, 0, 0, 2]))
            connection.waitForClose()
        }
        let owner = RecordingOwner(extendedProtocol: "websocket")
        owner.demand.withLock { $0 = .pause }
        let (closes, closed) = AsyncStream.makeStream(of: Void.self)
        owner.sending.onTermination = { _ in closed.finish() }
        let transfer = transport.start(try request(server), receiver: owner)
        for await _ in closes {}
        var record = try await owner.until { _ in true }
        #expect(record.ends.isEmpty && record.input == Data("one".utf8))
        owner.demand.withLock { $0 = .more }
        transfer.resumeReceiving()
        record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.input == Data("onetwo".utf8) && record.ends[0].error != nil)
    }

    @Test func cancellationResetsTheStream() async throws {
        let reset = AsyncStream.makeStream(of: [UInt8].self)
        let server = try RawServer { connection in
            guard exchangePrefaces(connection, allows: true), let frame = next(connection) else {
                return
            }
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.headers, flags: RawFrame.endOfHeaders,
                    stream: frame.stream, payload: RawFrame.status200))
            while let frame = connection.readFrame() {
                if frame.kind == RawFrame.Kind.reset { reset.continuation.yield(frame.payload) }
            }
        }
        let owner = RecordingOwner(extendedProtocol: "websocket")
        let transfer = transport.start(try request(server), receiver: owner)
        _ = try await owner.until { !$0.heads.isEmpty }
        transfer.cancel()
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.ends[0].error?.code == .cancelled)
        var payloads = reset.stream.makeAsyncIterator()
        #expect(await payloads.next() == [0, 0, 0, 8])
    }

    /// Requests that have waited for SETTINGS obey the limit of streams that these name (RFC 9113 §5.1.2).
    @Test func limitOfStreamsHolds() async throws {
        let owners = (0..<3).map { _ in RecordingOwner(extendedProtocol: "websocket") }
        let server = try RawServer { connection in
            guard connection.readBody(24).count == 24 else { return }
            // All of them wait, as far as they share the connection.
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.settings, payload: [0, 3, 0, 0, 0, 1, 0, 8, 0, 0, 0, 1]))
            while let frame = next(connection) {
                if frame.kind == RawFrame.Kind.headers {
                    accept(frame.stream, connection)
                } else if frame.endsStream {
                    connection.write(
                        RawFrame(
                            kind: RawFrame.Kind.data, flags: RawFrame.endOfStream,
                            stream: frame.stream, payload: []))
                }
            }
        }
        for owner in owners {
            _ = transport.start(try request(server), receiver: owner)
            owner.sending.finish()
        }
        for owner in owners {
            let record = try await owner.until { !$0.ends.isEmpty }
            #expect(record.ends[0].error == nil && record.heads.map(\.status.code) == [200])
        }
    }

    /// One that waits for SETTINGS ends; the connection of the silent server is used no more.
    @Test func silentConnectionIsNotUsedAgain() async throws {
        let count = Mutex(0)
        let server = try RawServer { connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number > 1 else { return connection.waitForClose() }
            guard exchangePrefaces(connection, allows: true), let frame = next(connection) else {
                return
            }
            accept(frame.stream, connection)
            connection.waitForClose()
        }
        let first = RecordingOwner(extendedProtocol: "websocket")
        var silent = try request(server)
        silent.timeouts.idle = .milliseconds(300)
        _ = transport.start(silent, receiver: first)
        let record = try await first.until { !$0.ends.isEmpty }
        #expect(record.ends[0].error?.timeout == .idle)
        let second = RecordingOwner(extendedProtocol: "websocket")
        _ = transport.start(try request(server), receiver: second)
        #expect(try await second.until { !$0.heads.isEmpty }.heads.map(\.status.code) == [200])
        #expect(count.withLock { $0 } == 2)
    }

    /// One that waits for SETTINGS is cancelled: its connection counts as idle, and gives way to one with another key.
    @Test func cancelledWaitLeavesTheConnectionIdle() async throws {
        let hasPreface = AsyncStream.makeStream(of: Void.self)
        let server = try RawServer { connection in
            guard connection.readBody(24).count == 24 else { return }
            hasPreface.continuation.yield()
            connection.waitForClose()
        }
        var configuration = CurlConfiguration()
        configuration.connectionsPerHost = 1
        let transport = CurlTransport(configuration: configuration)
        let first = RecordingOwner(extendedProtocol: "websocket")
        let transfer = transport.start(try request(server), receiver: first)
        var prefaces = hasPreface.stream.makeAsyncIterator()
        await prefaces.next()
        transfer.cancel()
        _ = try await first.until { !$0.ends.isEmpty }
        let second = RecordingOwner(extendedProtocol: "websocket")
        var other = try request(server)
        other.options.addressOverrides = ["elsewhere.test:80": ["127.0.0.1"]]
        let waiting = transport.start(other, receiver: second)
        // The connection of the other key is opened in place of the idle one.
        await prefaces.next()
        waiting.cancel()
        _ = try await second.until { !$0.ends.isEmpty }
    }

    /// One that waits for SETTINGS is cancelled beside an ordinary request, or beside another one that waits: their
    /// connection is in use, and a request with another key waits for its end.
    @Test(arguments: [false, true])
    func cancelledWaitLeavesTheConnectionInUse(isOrdinary: Bool) async throws {
        let hasPreface = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            guard connection.readBody(24).count == 24 else { return }
            hasPreface.continuation.yield()
            mayGoOn.wait()
            connection.write(
                RawFrame(kind: RawFrame.Kind.settings, payload: [0, 8, 0, 0, 0, 1]))
            guard let frame = next(connection) else { return }
            accept(frame.stream, connection)
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.data, flags: RawFrame.endOfStream, stream: frame.stream,
                    payload: []))
            connection.waitForClose()
        }
        var configuration = CurlConfiguration()
        configuration.connectionsPerHost = 1
        let transport = CurlTransport(configuration: configuration)
        let owners = (0..<3).map { _ in RecordingOwner(extendedProtocol: "websocket") }
        for owner in owners { owner.sending.finish() }
        var first = try request(server)
        if isOrdinary { first.headers[.upgrade] = nil }
        _ = transport.start(first, receiver: owners[0])
        var prefaces = hasPreface.stream.makeAsyncIterator()
        await prefaces.next()
        transport.start(try request(server), receiver: owners[1]).cancel()
        _ = try await owners[1].until { !$0.ends.isEmpty }
        var other = try request(server)
        other.options.addressOverrides = ["elsewhere.test:80": ["127.0.0.1"]]
        _ = transport.start(other, receiver: owners[2])
        mayGoOn.signal()
        let record = try await owners[0].until { !$0.ends.isEmpty }
        try #require(record.ends[0].error == nil)
        #expect(record.heads.count == (isOrdinary ? 0 : 1))
        mayGoOn.signal()
        #expect(try await owners[2].until { !$0.ends.isEmpty }.ends[0].error == nil)
    }
}
