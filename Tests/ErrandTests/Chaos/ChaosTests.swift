#if os(Linux)
    import Errand
    import ErrandTesting
    import Foundation
    import Synchronization
    import TestSupport
    import Testing

    /// Many requests to a server that breaks the protocol in random ways.
    ///
    /// `make chaos` runs 10,000 requests for each transport and style, without other tests. The environment variable `ERRAND_CHAOS_SEED` repeats a run, except for the
    /// order in which threads run.
    @Suite(.limited, .serialized) struct ChaosTests {
        /// How requests are started.
        enum Style: String, CaseIterable, Sendable, Codable { case awaited, closures }

        private static let environment = ProcessInfo.processInfo.environment
        private static let count = environment["ERRAND_CHAOS_REQUESTS"].flatMap { Int($0) } ?? 300
        private static let seed =
            environment["ERRAND_CHAOS_SEED"].flatMap { UInt64($0) }
            ?? .random(in: 0..<1_000_000_000)
        /// The number of requests at the same time.
        private static let width = 48

        /// Faults that end the process in FoundationNetworking, or occupy its queue; see the article Transports.
        private static let fatalForURLSession: Set<ChaosPlan.Fault> = [
            .cutHead, .reset, .resetBody, .endlessHead,
        ]

        private static func faults(_ transport: TransportKind) -> [ChaosPlan.Fault] {
            ChaosPlan.Fault.allCases.filter {
                transport == .curl || !fatalForURLSession.contains($0)
            }
        }

        @Test(arguments: TransportKind.allCases, Style.allCases)
        func everyRequestEndsOnceWithItsOwnResponse(
            transport: TransportKind, style: Style
        ) async throws {
            let (count, seed) = (Self.count, Self.seed)
            print(
                "ChaosTests: ERRAND_CHAOS_SEED=\(seed), \(count) requests, \(transport), \(style)")
            let faults = Self.faults(transport)
            let descriptors = try Self.openDescriptors()
            let ends = ChaosEnds()
            let never = Gate()
            let server = LoopbackServer()
            let timers = DispatchQueue(label: "chaos")
            server.otherwise { request in
                let parts = request.path.split(separator: "/").compactMap { Int($0) }
                let plan = ChaosPlan(
                    seed: seed, id: parts.first ?? 0, hop: parts.count > 1 ? 1 : 0, faults: faults)
                return plan.response(never: never) {
                    let gate = Gate()
                    timers.asyncAfter(deadline: .now() + .milliseconds(3)) { gate.open() }
                    return gate
                }
            }
            try await server.start()
            let agent = RequestAgent(transport: transport.makeTransport(), store: nil)
            let address = server.url("")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 0..<count {
                    if id >= Self.width { try await group.next() }
                    let plan = ChaosPlan(seed: seed, id: id, hop: 0, faults: faults)
                    let last =
                        plan.fault == .redirect
                        ? ChaosPlan(seed: seed, id: id, hop: 1, faults: faults) : plan
                    group.addTask {
                        let result = await Self.run(plan, address, agent, ends, style)
                        ends.ended(plan, last: last, result)
                    }
                }
                try await group.waitForAll()
            }
            let comment = Comment(rawValue: "ERRAND_CHAOS_SEED=\(seed): \(ends.summary)")
            print("ChaosTests: \(ends.summary)")
            #expect(ends.problems == [], comment)
            #expect(ends.missing(of: count) == [], comment)
            #expect(agent.activeTasks.isEmpty, comment)
            await agent.shutdown()
            never.open()
            await server.stop()
            // Delivery may hold the last request for a moment.
            for _ in 0..<1_000 where ends.requests > 0 { await Task.yield() }
            #expect(ends.requests == 0, comment)
            // Other tests in the process open descriptors as well.
            guard Self.environment["ERRAND_CHAOS_REQUESTS"] != nil else { return }
            for _ in 0..<500 where try Self.openDescriptors() > descriptors {
                try await Task.sleep(for: .milliseconds(10))
            }
            // Libraries keep some open, such as the one for random numbers.
            #expect(try Self.openDescriptors() <= descriptors + 8, comment)
        }

        private static func openDescriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }

        private static func run(
            _ plan: ChaosPlan, _ address: String, _ agent: RequestAgent, _ ends: ChaosEnds,
            _ style: Style
        ) async -> Result<Response, RequestError> {
            switch style {
            case .awaited:
                let task = Task { () -> Result<Response, RequestError> in
                    do throws(RequestError) {
                        return .success(try await ChaosRequest(plan, address, ends).send(on: agent))
                    } catch {
                        return .failure(error)
                    }
                }
                let canceller = plan.cancellation.map { delay in
                    Task { if (try? await Task.sleep(for: delay)) != nil { task.cancel() } }
                }
                defer { canceller?.cancel() }
                return await task.value
            case .closures:
                return await withCheckedContinuation { continuation in
                    Task { @MainActor in
                        let request = ChaosRequest(plan, address, ends)
                        // A second call traps in the continuation.
                        let task = request.start(
                            on: agent,
                            success: { request in
                                guard let response = request.response else { return }
                                continuation.resume(returning: .success(response))
                            },
                            failure: { _, error in continuation.resume(returning: .failure(error)) }
                        )
                        if let delay = plan.cancellation {
                            Task {
                                if (try? await Task.sleep(for: delay)) != nil { task.cancel() }
                            }
                        }
                    }
                }
            }
        }
    }
#endif
