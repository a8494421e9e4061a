import ErrandCore

#if os(Linux)
    import ErrandHTTP
    import ErrandReachability
    import Foundation
    import TestSupport
    import Testing

    /// Changes of interfaces, addresses and routes, which the kernel announces by netlink.
    @Suite(.limited) struct NetworkChangeTests {
        /// Commands that change one of two connected interfaces, each with the status that must be reported next.
        private static let changes: [(command: String, status: NetworkStatus.Kind)] = [
            ("ip address add 192.0.2.1/24 dev errand0", .other),
            ("ip route add default via 192.0.2.2", .wired),
            ("ip route delete default", .other),
            ("ip route add default via 192.0.2.2", .wired),
            ("ip link set errand0 down", .none),
            ("ip link set errand0 up", .other),
            ("ip address flush dev errand0 scope global", .none),
            ("ip -6 address add 2001:db8::1/64 dev errand0 nodad", .other),
            ("ip -6 route add default via 2001:db8::2", .wired),
            ("ip link delete errand0", .none),
        ]

        /// Runs in another process in a network namespace of its own, where it may change the network.
        @Test func changesOfTheNetworkAreReported() async throws {
            if let report = TestProcess.role?["report"] {
                return try await changeTheNetwork(reportingTo: report)
            }
            let report = FileManager.default.temporaryDirectory
                .appendingPathComponent("errand-network-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: report) }
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { root.deleteLastPathComponent() }
            let process = try TestProcess(
                running: "NetworkChangeTests", as: ["report": report.path],
                through: root.appendingPathComponent("Scripts/peers/network-namespace"))
            let end = await process.ended()
            try #require(end == .exit(0), "\(process.output)")
            let lines = try String(contentsOf: report, encoding: .utf8).split(separator: "\n")
            let expected = [NetworkStatus.Kind.none] + Self.changes.map(\.status)
            #expect(lines.map(String.init) == expected.map(\.rawValue))
        }

        /// Changes the network of this process, and writes the statuses that were reported.
        private func changeTheNetwork(reportingTo path: String) async throws {
            try await run("ip link add errand0 type veth peer name errand1")
            try await run("ip link set errand1 up")
            try await run("ip link set errand0 up")
            let reachability = SystemReachability()
            var reports = reachability.changes().makeAsyncIterator()
            var seen = [try #require(await reports.next()).kind]
            #expect(seen == [.none])
            for change in Self.changes {
                try await run(change.command)
                let status = try #require(await reports.next(), "\(change.command)")
                #expect(status.kind == change.status, "\(change.command)")
                #expect(reachability.current == status)
                seen.append(status.kind)
            }
            let text = seen.map(\.rawValue).joined(separator: "\n")
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }

        private func run(_ command: String) async throws {
            let (ends, continuation) = AsyncStream.makeStream(of: TestProcess.End.self)
            try TestProcess.start(
                ["/usr/bin/env"] + command.split(separator: " ").map(String.init),
                ProcessInfo.processInfo.environment, output: "/dev/null"
            ) {
                continuation.yield($0)
                continuation.finish()
            }
            let end = await ends.first { _ in true }
            try #require(end == .exit(0), "\(command)")
        }
    }
#endif
