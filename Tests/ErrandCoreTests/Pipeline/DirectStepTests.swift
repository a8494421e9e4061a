import ErrandCore
import Synchronization
import Testing

/// Direct steps, and others between them, are called like functions that call each other.
struct DirectStepTests {
    private enum Kind: CaseIterable {
        case unchanged, changed, waits, repeats, failsBefore, failsAfter, ordinary
    }

    /// The calls, with the trace of the changes in the request that it got.
    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])

        func add(_ entry: String) { entries.withLock { $0.append(entry) } }
        func take() -> [String] {
            entries.withLock { entries in
                defer { entries = [] }
                return entries
            }
        }
    }

    private static let failure = RequestError(.cancelled, stage: .cancel, "refused")

    private final class Ordinary: Step {
        let name: Int, log: Log
        init(_ name: Int, _ log: Log) { (self.name, self.log) = (name, log) }

        func run(
            _ pipelineRequest: PipelineRequest, next: Next
        ) async throws(RequestError) -> Response {
            log.add("run \(name) \(pipelineRequest.attempt)")
            var changed = pipelineRequest
            changed.attempt = changed.attempt &* 31 &+ name
            return try await next(changed)
        }
    }

    private final class Direct: DirectStep {
        let kind: Kind, name: Int, log: Log
        init(_ kind: Kind, _ name: Int, _ log: Log) {
            (self.kind, self.name, self.log) = (kind, name, log)
        }

        func before(_ pipelineRequest: inout PipelineRequest) throws(RequestError) -> Passing {
            switch kind {
            case .waits: return .waits
            case .failsBefore:
                log.add("fail \(name) \(pipelineRequest.attempt)")
                throw failure
            case .changed:
                pipelineRequest.attempt = pipelineRequest.attempt &* 31 &+ name
                return .changed
            default: return .unchanged
            }
        }

        func after(
            _ result: inout Result<Response, RequestError>, _ sent: PipelineRequest
        ) -> Bool {
            log.add("after \(name) \(sent.attempt)")
            if kind == .failsAfter { result = .failure(failure) }
            return kind != .repeats
        }

        func resume(
            _ sent: PipelineRequest, after result: Result<Response, RequestError>, next: Next
        ) async throws(RequestError) -> Response {
            log.add("resume \(name) \(sent.attempt)")
            return try await next(sent)
        }

        func run(
            _ pipelineRequest: PipelineRequest, next: Next
        ) async throws(RequestError) -> Response {
            log.add("wait \(name) \(pipelineRequest.attempt)")
            return try await next(pipelineRequest)
        }
    }

    private final class Last: Step {
        let fails: Bool, log: Log
        init(fails: Bool, _ log: Log) { (self.fails, self.log) = (fails, log) }

        func run(
            _ pipelineRequest: PipelineRequest, next: Next
        ) async throws(RequestError) -> Response {
            log.add("last \(pipelineRequest.attempt)")
            if fails { throw failure }
            return ScriptedStep.response("done")
        }
    }

    /// The same as functions; returns whether the result is a success.
    private func expected(
        _ kinds: ArraySlice<Kind>, _ trace: Int, fails: Bool, _ log: inout [String]
    ) -> Bool {
        guard let kind = kinds.first else {
            log.append("last \(trace)")
            return !fails
        }
        let (name, rest) = (kinds.startIndex + 1, kinds.dropFirst())
        switch kind {
        case .ordinary:
            log.append("run \(name) \(trace)")
            return expected(rest, trace &* 31 &+ name, fails: fails, &log)
        case .waits:
            log.append("wait \(name) \(trace)")
            return expected(rest, trace, fails: fails, &log)
        case .failsBefore:
            log.append("fail \(name) \(trace)")
            return false
        case .unchanged, .changed, .repeats, .failsAfter:
            let trace = kind == .changed ? trace &* 31 &+ name : trace
            var isSuccess = expected(rest, trace, fails: fails, &log)
            log.append("after \(name) \(trace)")
            if kind == .failsAfter { isSuccess = false }
            if kind == .repeats {
                log.append("resume \(name) \(trace)")
                isSuccess = expected(rest, trace, fails: fails, &log)
            }
            return isSuccess
        }
    }

    private func check(_ kinds: [Kind], _ log: Log) async {
        let task = RequestTask.forTest(description: RequestDescription(endpoint: "Test", url: "/b"))
        for fails in [false, true] {
            let steps = kinds.enumerated().map { index, kind -> any Step in
                kind == .ordinary ? Ordinary(index + 1, log) : Direct(kind, index + 1, log)
            }
            var isSuccess = true
            do throws(RequestError) {
                let request = PipelineRequest(
                    task: task, request: TransportRequest(url: HTTPURL(scheme: "http", host: "a")))
                _ = try await Next(steps + [Last(fails: fails, log)])(request)
            } catch {
                isSuccess = false
            }
            var calls: [String] = []
            #expect(expected(kinds[...], 0, fails: fails, &calls) == isSuccess, "\(kinds)")
            #expect(log.take() == calls, "\(kinds)")
        }
    }

    @Test func everySequenceOfThree() async {
        let log = Log()
        for first in Kind.allCases {
            await check([first], log)
            for second in Kind.allCases {
                await check([first, second], log)
                for third in Kind.allCases { await check([first, second, third], log) }
            }
        }
    }

    /// Longer than one passage, with more changes than it has room for.
    @Test func longSequences() async {
        let log = Log()
        for count in 4...14 {
            await check(Array(repeating: .unchanged, count: count), log)
            await check(Array(repeating: .changed, count: count), log)
            for place in 0..<count {
                for kind in Kind.allCases {
                    for (even, odd) in [(Kind.changed, Kind.unchanged), (.unchanged, .failsAfter)] {
                        var kinds = (0..<count).map { $0.isMultiple(of: 2) ? even : odd }
                        kinds[place] = kind
                        await check(kinds, log)
                    }
                }
            }
        }
    }
}
