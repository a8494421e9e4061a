#if os(Linux)
    import ErrandCurl
    @testable import ErrandTesting
    import ErrandTransport
    import Foundation
    import Synchronization
    import TestSupport
    import Testing

    /// The reports of connections, with both HTTP/1.1 engines.
    @Suite(.limited) struct ConnectionEventTests {
        private let server = LoopbackServer()

        /// Collects the reports of a transport.
        private final class Reports: Sendable {
            private let events = Watched<[ConnectionEvent]>([])
            private let observation = Mutex<ConnectionReports.Observation?>(nil)

            init(_ transport: CurlTransport) {
                let observation = transport.connectionReports.observe { [events] event in
                    events.change { $0.append(event) }
                }
                self.observation.withLock { $0 = observation }
            }

            func until(_ count: Int) async throws -> [ConnectionEvent] {
                try await events.wait { $0.count >= count ? $0 : nil }
            }

            /// The reasons of all events, with `opened` for an opening.
            func reasons(_ count: Int) async throws -> [String] {
                try await until(count).map { $0.closeReason?.rawValue ?? "opened" }
            }
        }

        private func start(_ handler: @escaping LoopbackServer.Handler) async throws {
            server.route("/", handler)
            try await server.start()
        }

        private func run(
            _ transport: CurlTransport, _ path: String = "/"
        ) async throws -> RecordingReceiver.Record {
            let receiver = RecordingReceiver()
            _ = transport.start(
                TransportRequest(url: try HTTPURL(parsing: server.url(path))), receiver: receiver)
            let record = try await receiver.ended()
            #expect(record.violations.isEmpty, "\(record.violations)")
            return record
        }

        @Test func requestsNameTheirConnection() async throws {
            try await start { _ in LoopbackResponse(body: "ok") }
            let transport = CurlTransport()
            let reports = Reports(transport)
            let first = try await run(transport)
            let second = try await run(transport)
            #expect(first.connections.count == 1 && second.connections == first.connections)
            let opened = try await reports.until(1)
            #expect(opened.map(\.connection) == first.connections)
            let connection = try #require(first.connections.first)
            #expect(connection.host == "127.0.0.1" && "\(connection.port)" == "\(server.port)")
            #expect(connection.remoteAddress == "127.0.0.1:\(server.port)")
            #expect(!connection.isSecure && connection.httpVersion == .http11)
            #expect(opened.first?.openConnections == 1 && opened.first?.transport == "curl")
            #expect(first.end?.timings.reusedConnection == false)
            #expect(second.end?.timings.reusedConnection == true)
            await server.stop()
            let closed = try await reports.until(2)
            #expect(closed.last?.closeReason == .serverClosed)
            #expect(closed.last?.openConnections == 0)
            transport.shutDown()
        }

        /// The transport is still referenced: its release closes the connections, too.
        @Test func shutDownClosesIdleConnections() async throws {
            try await start { _ in LoopbackResponse(body: "ok") }
            let transport = CurlTransport()
            let reports = Reports(transport)
            _ = try await run(transport)
            transport.shutDown()
            #expect(try await reports.reasons(2) == ["opened", "shutDown"])
            #expect(try await run(transport).error?.code == .agentShutDown)
            await server.stop()
        }

        @Test func closeOfTheResponseIsNotPersistent() async throws {
            try await start { _ in
                LoopbackResponse(headers: ["Connection": "close"], body: "ok")
            }
            let transport = CurlTransport()
            let reports = Reports(transport)
            _ = try await run(transport)
            _ = try await run(transport)
            #expect(
                try await reports.reasons(4) == [
                    "opened", "notPersistent", "opened", "notPersistent",
                ])
            await server.stop()
        }

        @Test func cancelledRequestClosesItsConnection() async throws {
            let gate = Gate()
            try await start { _ in .silence(until: gate) }
            let transport = CurlTransport()
            let reports = Reports(transport)
            let receiver = RecordingReceiver()
            let transfer = transport.start(
                TransportRequest(url: try HTTPURL(parsing: server.url("/"))), receiver: receiver)
            try await gate.reached()
            transfer.cancel()
            _ = try await receiver.ended()
            #expect(try await reports.reasons(2) == ["opened", "cancelled"])
            gate.open()
            await server.stop()
        }

        @Test func timeLimitClosesTheConnection() async throws {
            let gate = Gate()
            try await start { _ in .silence(until: gate) }
            let transport = CurlTransport()
            let reports = Reports(transport)
            let receiver = RecordingReceiver()
            var request = TransportRequest(url: try HTTPURL(parsing: server.url("/")))
            request.timeouts.idle = .milliseconds(50)
            _ = transport.start(request, receiver: receiver)
            #expect(try await receiver.ended().end?.error?.code == .timedOut)
            #expect(try await reports.reasons(2) == ["opened", "timedOut"])
            gate.open()
            await server.stop()
        }

        @Test func surplusDataClosesTheConnection() async throws {
            let received = DispatchSemaphore(value: 0)
            let server = try RawServer { connection in
                while connection.readHead() != nil {
                    connection.respond("ok")
                    received.wait()
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL")
                }
            }
            let transport = CurlTransport()
            let reports = Reports(transport)
            #expect(try await transport.run(.get, server.url()).error == nil)
            received.signal()
            #expect(try await reports.reasons(2) == ["opened", "unsolicitedData"])
        }

        /// The idle limit of the pool; libcurl's own is not known to the transport.
        @Test func idleConnectionIsClosedAfterItsLimit() async throws {
            try await start { _ in LoopbackResponse(body: "ok") }
            let transport = CurlTransport { $0.idleLifetime = .milliseconds(1) }
            let reports = Reports(transport)
            _ = try await run(transport)
            #expect(try await reports.reasons(2) == ["opened", "idleLimit"])
            await server.stop()
        }

        @Test func malformedResponseIsAFailure() async throws {
            try await start { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n") }
            let transport = CurlTransport()
            let reports = Reports(transport)
            #expect(try await run(transport).end?.error != nil)
            #expect(try await reports.reasons(2) == ["opened", "failed"])
            await server.stop()
        }

        @Test func releaseOfTheTransportIsAShutdown() async throws {
            try await start { _ in LoopbackResponse(body: "ok") }
            var transport: CurlTransport? = CurlTransport()
            let reports = Reports(try #require(transport))
            _ = try await run(try #require(transport))
            transport = nil
            #expect(try await reports.reasons(2) == ["opened", "shutDown"])
            await server.stop()
        }

        @Test func connectionThatCannotBeOpenedIsNotReported() async throws {
            let dead = try DeadPort.Refusing()
            let transport = CurlTransport()
            let receiver = RecordingReceiver()
            let reports = Reports(transport)
            _ = transport.start(
                TransportRequest(url: try HTTPURL(parsing: "http://127.0.0.1:\(dead.port)/")),
                receiver: receiver)
            #expect(try await receiver.ended().end?.error?.code == .cannotConnect)
            try await start { _ in LoopbackResponse(body: "ok") }
            _ = try await run(transport)
            let events = try await reports.until(1)
            #expect(events.map { "\($0.connection.port)" } == ["\(server.port)"])
            #expect(transport.connectionReports.openConnections == 1)
            await server.stop()
        }

        @Test func idleConnectionsBeyondTheLimitAreClosed() async throws {
            try await start { _ in LoopbackResponse(body: "ok") }
            let second = LoopbackServer()
            second.route("/") { _ in LoopbackResponse(body: "ok") }
            try await second.start()
            let transport = CurlTransport { $0.idleConnections = 1 }
            let reports = Reports(transport)
            _ = try await run(transport)
            let receiver = RecordingReceiver()
            _ = transport.start(
                TransportRequest(url: try HTTPURL(parsing: second.url("/"))), receiver: receiver)
            _ = try await receiver.ended()
            #expect(try await reports.reasons(3) == ["opened", "opened", "poolFull"])
            await server.stop()
            await second.stop()
        }

        @Test func observerIsRemovedWithItsObservation() async throws {
            let reports = ConnectionReports(transport: "test")
            let connection = Response.Connection(host: "a.example", port: 1, isSecure: false)
            let events = Watched<[Int]>([])
            var observation: ConnectionReports.Observation? = reports.observe { event in
                events.change { $0.append(event.openConnections) }
            }
            let kept = reports.observe { event in
                events.change { $0.append(-event.openConnections) }
            }
            reports.opened(connection)
            _ = try await events.wait { $0.count == 2 ? $0 : nil }
            withExtendedLifetime(observation) {}
            observation = nil
            reports.closed(connection, because: .idleLimit)
            reports.opened(connection)
            let numbers = try await events.wait { $0.last == -1 && $0.count > 3 ? $0 : nil }
            #expect(numbers == [1, -1, 0, -1] || numbers == [-1, 1, 0, -1])
            withExtendedLifetime(kept) {}
        }
    }
#endif
