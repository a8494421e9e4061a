import ErrandWorkflows

#if os(Linux)
    import Errand
    import ErrandTesting
    import Foundation
    import TestSupport
    import Testing

    /// Processes that are killed at random moments of a chain, and the next processes, which continue it.
    @Suite(.limited) struct ChainKillTests {
        private static let steps = 8

        /// A step that sends the output of the previous one.
        private final class SendStep: BaseRequest, TypedRequest {
            let step: Int
            let input: Int
            private let role: [String: String]
            private let started: @Sendable () -> Void

            init(
                _ step: Int, _ input: Int, _ role: [String: String],
                started: @escaping @Sendable () -> Void
            ) {
                self.step = step
                self.input = input
                self.role = role
                self.started = started
            }

            override func willStart() { started() }
            override var method: HTTPMethod { .post }
            override var url: EndpointURL {
                "\(raw: role["url"] ?? "")/\(role["run"] ?? "")/\(step)/\(input)"
            }
            var decoder: ResponseDecoder<Int> { ResponseDecoder { $0.json.int ?? -1 } }
        }

        private static func output(of step: Int, _ input: Int) -> Int { 2 * input + step }

        /// Runs the chain in a child process, which kills itself, or prints the output.
        private static func runChain(_ role: [String: String]) async -> Never {
            let count = Int(role["kill after"] ?? "") ?? 0
            let delay = UInt32(role["delay"] ?? "") ?? 0
            let starts = Shared(0)
            let started: @Sendable () -> Void = {
                starts.value += 1
                guard starts.value == count else { return }
                guard delay > 0 else {
                    kill(getpid(), SIGKILL)
                    return
                }
                Thread.detachNewThread {
                    usleep(delay)
                    kill(getpid(), SIGKILL)
                }
            }
            let chain = ChainRequest.Typed<Int> { chain in
                var last = chain.add(SendStep(1, 0, role, started: started), named: "1")
                for step in 2...steps {
                    let input = last
                    last = chain.add(named: "\(step)") {
                        SendStep(step, try input.output, role, started: started)
                    }
                }
                return last
            }
            chain.name = "numbers"
            chain.checkpointStore = SQLiteCheckpointStore(path: role["path"] ?? "")
            let agent = RequestAgent(
                configuration: Configuration(), transport: CurlTransport(), store: nil)
            do {
                let output = try await chain.value(on: agent)
                print("output \(output)")
                fflush(nil)
                exit(EXIT_SUCCESS)
            } catch {
                print("failed: \(error)")
                fflush(nil)
                exit(EXIT_FAILURE)
            }
        }

        /// A request at the server.
        private struct Arrival: Hashable {
            var run: Int
            var step: Int
            var input: Int

            init?(_ target: String) {
                let parts = target.split(separator: "/").compactMap { Int($0) }
                guard parts.count == 3 else { return nil }
                (run, step, input) = (parts[0], parts[1], parts[2])
            }
        }

        /// Only the step in progress when a process was killed is sent again.
        @Test func killedChainContinuesWithTheStepInProgress() async throws {
            if let role = TestProcess.role { await Self.runChain(role) }
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("errand-chain-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = LoopbackServer()
            server.otherwise { request in
                let arrival = Arrival(request.target)
                let output = arrival.map { Self.output(of: $0.step, $0.input) } ?? -1
                return LoopbackResponse(
                    headers: ["Content-Type": "application/json"], body: "\(output)")
            }
            try await server.start()
            let seed = UInt64.random(in: 0...(.max))
            var random = SeededGenerator(seed: seed)
            var text: String?
            var kills = 0
            for run in 0..<8 where text == nil {
                // The first process is killed before its third request, the last one not at all.
                let count = run == 0 ? 3 : run == 7 ? 0 : Int.random(in: 1...3, using: &random)
                let delay = run == 0 ? 0 : Int.random(in: 0...4_000, using: &random)
                let process = try TestProcess(
                    running: "ChainKillTests/killedChainContinuesWithTheStepInProgress",
                    as: [
                        "url": server.url(""), "path": folder.path + "/chains.sqlite",
                        "run": "\(run)", "kill after": "\(count)", "delay": "\(delay)",
                    ])
                let end = await process.ended()
                if end == .signal(SIGKILL) {
                    kills += 1
                } else {
                    #expect(
                        end == .exit(EXIT_SUCCESS), "seed \(seed): \(process.output.suffix(2000))")
                    text = process.output.split(separator: "\n").last { $0.hasPrefix("output ") }
                        .map(String.init)
                }
            }
            await server.stop()
            let expected = (1...Self.steps).reduce(0) { Self.output(of: $1, $0) }
            #expect(text == "output \(expected)" && kills > 0, "seed \(seed)")
            check(server.requests.compactMap { Arrival($0.target) }, seed)
        }

        private func check(_ arrivals: [Arrival], _ seed: UInt64) {
            var last = 0
            for run in 0..<8 {
                // A server may see the last request of a killed process after one of the next process.
                let steps = arrivals.filter { $0.run == run }.map(\.step)
                guard let first = steps.first, let end = steps.last else { continue }
                #expect(steps == Array(first...max(first, end)), "seed \(seed): \(arrivals)")
                // After its last step a chain has no checkpoint; a process may be killed then, too.
                let isNewChain = first == 1 && last == Self.steps
                #expect(
                    first == last || first == last + 1 || isNewChain, "seed \(seed): \(arrivals)")
                last = end
            }
            #expect(last == Self.steps, "seed \(seed): \(arrivals)")
            // Each step is sent with the output of the one before.
            for arrival in arrivals {
                let input = (1..<arrival.step).reduce(0) { Self.output(of: $1, $0) }
                #expect(arrival.input == input, "seed \(seed): \(arrivals)")
            }
        }
    }
#endif
