import BenchSupport
import Errand
import ErrandWorkflows
import Foundation

/// Measures the cost of batches, graphs and chains beside the same requests in a task group and in a loop.
///
///     swift run -c release CompositeBench [COUNT [ROUNDS]]
@main struct CompositeBench {
    private static let programs: [(name: String, run: @Sendable (Run) async throws -> Int)] = [
        ("group", group), ("batch", batch), ("graph", graph), ("values", values), ("typed", typed),
        ("loop", loop), ("chain", chain), ("line", line),
    ]

    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[1] == "program", let count = Int(arguments[3]) {
            return try await measure(arguments[2], count)
        }
        let count = arguments.count > 1 ? Int(arguments[1]) ?? 10_000 : 10_000
        let rounds = arguments.count > 2 ? Int(arguments[2]) ?? 5 : 5
        print("\(count) members, medians of \(rounds) rounds\nprogram   cpu us   bytes each")
        var results: [String: [(cpu: Double, bytes: Double)]] = [:]
        for round in 0..<rounds {
            // Rotated, and one process for each, because memory that an earlier run has freed would hide new use.
            for index in programs.indices {
                let name = programs[(index + round) % programs.count].name
                results[name, default: []].append(try await result(of: name, count))
            }
        }
        for (name, _) in programs {
            let all = results[name] ?? []
            let cells = [median(all.map(\.cpu)), median(all.map(\.bytes))]
            print(
                name.padding(toLength: 10, withPad: " ", startingAt: 0),
                cells.map(short).joined(separator: "   "))
        }
    }

    private static func result(
        of name: String, _ count: Int
    ) async throws -> (cpu: Double, bytes: Double) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["program", name, "\(count)"]
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let numbers = text.split(separator: " ").compactMap { Double($0) }
        guard process.terminationStatus == 0, numbers.count == 2 else {
            throw CocoaError(.executableLoad)
        }
        return (numbers[0], numbers[1])
    }

    /// Runs one program and prints its CPU time and memory for each member.
    private static func measure(_ name: String, _ count: Int) async throws {
        guard let program = programs.first(where: { $0.name == name }) else { return }
        // The first requests initialize caches of the process.
        _ = try await program.run(Run(count: 100))
        let run = Run(count: count)
        let memory = Meter.memoryAndThreads.bytes
        let cpu = Meter.cpu
        let ended = try await program.run(run)
        let used = (Meter.cpu - cpu) / Double(count)
        precondition(ended == count)
        print(used, Double(Meter.peakMemory - memory) / Double(count), terminator: " ")
    }

    // MARK: - Programs

    private static func group(_ run: Run) async throws -> Int {
        let agent = run.agent
        run.openWhenAllAreHeld()
        return try await withThrowingTaskGroup(of: (Int, Response).self) { group in
            for index in 0..<run.count {
                group.addTask { (index, try await Member().send(on: agent)) }
            }
            var responses = [Response?](repeating: nil, count: run.count)
            for try await (index, response) in group { responses[index] = response }
            return responses.count { $0 != nil }
        }
    }

    private static func batch(_ run: Run) async throws -> Int {
        run.openWhenAllAreHeld()
        let batch = BatchRequest((0..<run.count).map { _ in Member() })
        return try await batch.send(on: run.agent).count
    }

    private static func graph(_ run: Run) async throws -> Int {
        run.openWhenAllAreHeld()
        let graph = RequestGraph()
        for _ in 0..<run.count { graph.add(Member()) }
        return try await graph.send(on: run.agent).succeeded.count
    }

    private static func values(_ run: Run) async throws -> Int {
        let agent = run.agent
        run.openWhenAllAreHeld()
        return try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for index in 0..<run.count {
                group.addTask { (index, try await TypedMember().value(on: agent)) }
            }
            var values = [Int?](repeating: nil, count: run.count)
            for try await (index, value) in group { values[index] = value }
            return values.count { $0 != nil }
        }
    }

    private static func typed(_ run: Run) async throws -> Int {
        run.openWhenAllAreHeld()
        let batch = BatchRequest.Typed((0..<run.count).map { _ in TypedMember() })
        return try await batch.value(on: run.agent).count
    }

    private static func loop(_ run: Run) async throws -> Int {
        run.transport.open()
        var responses: [Response] = []
        for _ in 0..<run.count { responses.append(try await Member().send(on: run.agent)) }
        return responses.count
    }

    private static func chain(_ run: Run) async throws -> Int {
        run.transport.open()
        let chain = ChainRequest()
        for _ in 0..<run.count { chain.add(Member()) }
        return try await chain.send(on: run.agent).count
    }

    private static func line(_ run: Run) async throws -> Int {
        run.transport.open()
        let graph = RequestGraph()
        var last = graph.add(Member())
        for _ in 1..<run.count { last = graph.add(after: last) { _ in Member() } }
        return try await graph.send(on: run.agent).succeeded.count
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    private static func short(_ number: Double) -> String {
        String(format: "%8.1f", number)
    }
}

/// An agent on a transport without a network.
struct Run: Sendable {
    let count: Int
    let transport = HoldingTransport()
    let agent: RequestAgent

    init(count: Int) {
        self.count = count
        agent = RequestAgent(
            configuration: Configuration(), transport: transport, store: nil)
    }

    /// Lets the transport respond when all members are in flight at the same time.
    func openWhenAllAreHeld() {
        Task {
            await transport.untilHeld(count)
            transport.open()
        }
    }
}

/// The request of all programs.
final class Member: BaseRequest {
    static let address: EndpointURL = "https://api.example.com/x"
    override var url: EndpointURL { Self.address }
}

/// The request of the programs with typed values.
final class TypedMember: BaseRequest, TypedRequest {
    override var url: EndpointURL { Member.address }
    var decoder: ResponseDecoder<Int> { ResponseDecoder { $0.data.count } }
}
