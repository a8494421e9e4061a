#if Inspector
    import ErrandCore
    import ErrandTesting
    import Foundation
    import TestSupport
    import Testing

    @testable import ErrandInspector

    /// What any process of the machine can do with the port.
    @Suite("Inspector: port", .limited)
    struct InspectorPortTests {
        private static let token = "t0ken"

        /// Starts a server whose deadlines do not end a connection while the machine is busy, except for the changed ones.
        private func start(
            _ change: (inout InspectorServer.Limits) -> Void = { _ in }
        ) throws -> InspectorServer {
            var limits = InspectorServer.Limits()
            let never = Duration.seconds(3600)
            (limits.head, limits.idle, limits.body) = (never, never, never)
            (limits.write, limits.linger) = (never, never)
            change(&limits)
            return try InspectorServer.start(
                port: 0, token: Self.token, api: InspectorFixture().api, limits: limits)
        }

        private func call(
            _ server: InspectorServer, _ target: String = "/api/state", token: String? = token,
            host: String? = nil, fields: String = "", method: String = "GET", body: String = ""
        ) -> String {
            let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
            return
                "\(method) \(target) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(server.port)")\r\n"
                + "\(authorization)\(fields)\r\n\(body)"
        }

        @Test(arguments: [
            ("GET /", "a", 300 << 10), ("GET / HTTP/1.1\r\nX: ", "a", 300 << 10),
            ("GET / HTTP/1.1\r\n", "X: a\r\n", 60 << 10),
        ])
        func endlessHeadIsRefused(start text: String, more: String, count: Int) async throws {
            let head = text + String(repeating: more, count: count)
            let server = try start()
            let clients = try (0..<4).map { _ in try PortClient(port: server.port) }
            for client in clients {
                Task { await client.send(head) }
                #expect(await client.read().hasPrefix("HTTP/1.1 431 "))
            }
            await server.stop()
        }

        @Test func slowHeadEndsAtItsDeadline() async throws {
            let server = try start { $0.head = .milliseconds(50) }
            let client = try PortClient(port: server.port)
            await client.send("GET / HTTP/1.1\r\nHo")
            #expect(await client.read() == "")
            let silent = try PortClient(port: server.port)
            #expect(await silent.read() == "")
            await server.stop()
        }

        @Test func slowBodyAndIdleConnectionEndAtTheirDeadlines() async throws {
            let server = try start {
                $0.body = .milliseconds(50)
                $0.idle = .milliseconds(50)
            }
            let client = try PortClient(port: server.port)
            await client.send(
                call(
                    server, "/api/rules", fields: "Content-Length: 5\r\n", method: "POST", body: "{"
                ))
            #expect(await client.read() == "")
            let idle = try PortClient(port: server.port)
            await idle.send(call(server))
            #expect(await idle.read().hasPrefix("HTTP/1.1 200 "))
            await server.stop()
        }

        @Test func furtherStrangerClosesTheOldest() async throws {
            let server = try start { $0.strangers = 3 }
            let trusted = try PortClient(port: server.port)
            await trusted.send(call(server))
            #expect(await trusted.read(until: "\"waiting\"").hasPrefix("HTTP/1.1 200 "))
            let strangers = try (0..<8).map { _ in try PortClient(port: server.port) }
            // The first five are closed without a response.
            for stranger in strangers.prefix(5) { #expect(await stranger.read() == "") }
            for stranger in strangers.suffix(3) {
                await stranger.send(call(server, fields: "Connection: close\r\n"))
                #expect(await stranger.read().hasPrefix("HTTP/1.1 200 "))
            }
            await trusted.send(call(server, fields: "Connection: close\r\n"))
            #expect(await trusted.read().contains("HTTP/1.1 200 "))
            await server.stop()
        }

        @Test func refusalClosesTheConnectionBeforeTheBodyIsRead() async throws {
            let server = try start()
            for (request, status) in [
                (call(server, host: "other:\(server.port)"), 403),
                (call(server, host: ""), 403),
                (call(server, token: "wrong"), 401),
                (
                    call(server, token: nil, fields: "Content-Length: 8000000\r\n", method: "POST"),
                    401
                ),
                (call(server, fields: "Content-Length: 8388609\r\n", method: "POST"), 413),
                (call(server, fields: "Transfer-Encoding: chunked\r\n", method: "POST"), 411),
                (call(server, fields: "Host: 127.0.0.1\r\n"), 400),
            ] {
                let client = try PortClient(port: server.port)
                // The second request must not be served.
                await client.send(request + call(server))
                let response = await client.read()
                #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(response)")
                #expect(response.contains("Connection: close\r\n"))
                #expect(response.ranges(of: "HTTP/1.1 ").count == 1)
            }
            await server.stop()
        }

        @Test func tokenIsCheckedForEachRequestOfAConnection() async throws {
            let server = try start()
            let client = try PortClient(port: server.port)
            await client.send(call(server) + call(server, token: nil) + call(server))
            let text = await client.read()
            #expect(text.ranges(of: "HTTP/1.1 200 ").count == 1)
            #expect(text.ranges(of: "HTTP/1.1 401 ").count == 1)
            await server.stop()
        }

        @Test(arguments: [1, .max])
        func pipelinedRequestsHaveTheirResponsesInOrder(piece: Int) async throws {
            let server = try start()
            let client = try PortClient(port: server.port)
            let rules = #"{"rules":[]}"#
            let length = "Content-Length: \(rules.utf8.count)\r\n"
            await client.send(
                call(server, "/api/rules", fields: length, method: "POST", body: rules)
                    + call(server, "/api/none") + call(server, "/api/rules", method: "HEAD")
                    + call(server, "/?token=\(Self.token)", fields: "Connection: close\r\n"),
                piece: piece)
            let text = await client.read()
            let statuses = text.ranges(of: "HTTP/1.1 ").map { text[$0.upperBound...].prefix(3) }
            #expect(statuses == ["200", "404", "404", "200"])
            #expect(text.hasSuffix("</html>\n"))
            await server.stop()
        }

        @Test func bodyIsAskedForIfTheClientWaits() async throws {
            let server = try start()
            let client = try PortClient(port: server.port)
            let head = "Content-Length: 12\r\nExpect: 100-continue\r\nConnection: close\r\n"
            await client.send(call(server, "/api/rules", fields: head, method: "POST"))
            #expect(await client.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            await client.send(#"{"rules":[]}"#)
            #expect(await client.read().hasPrefix("HTTP/1.1 200 "))
            await server.stop()
        }

        @Test func stopEndsWaitingCallsAndSilentConnections() async throws {
            let server = try start()
            let silent = try PortClient(port: server.port)
            let waiting = try PortClient(port: server.port)
            await waiting.send(call(server) + call(server, "/api/changes?since=999&wait=600000"))
            _ = await waiting.read(until: "\"waiting\"")
            await server.stop()
            #expect(await silent.read() == "")
            _ = await waiting.read()
            #expect(throws: POSIXError.self) { try PortClient(port: server.port) }
            await server.stop()
        }
    }
#endif
