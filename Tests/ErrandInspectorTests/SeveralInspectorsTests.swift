import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandInspector

/// Several inspectors, and other listeners that capture requests, of one agent.
@Suite("Inspector: several in one agent", .limited)
struct SeveralInspectorsTests {
    private let clock = ManualClock()
    private let recorders: [InspectorRecorder]
    private let transport = ScriptedTransport()

    init() {
        recorders = [clock, clock, clock].map {
            InspectorRecorder(limits: InspectorRecorder.Limits(), clock: $0)
        }
        transport.on(.get, "/a", .json("{}"))
    }

    private func agent(_ listeners: [any RequestEventListener]) -> RequestAgent {
        var configuration = Configuration(baseURL: "https://api.example.com")
        configuration.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
        configuration.eventListeners = listeners
        return RequestAgent(configuration: configuration, transport: transport, clock: clock)
    }

    private func rule(
        _ action: TransferRule.Action, _ change: (inout TransferRule) -> Void
    ) -> TransferRule {
        var rule = TransferRule(id: "1", pattern: "*", action: action)
        change(&rule)
        return rule
    }

    private func run(_ agent: RequestAgent, _ url: String = "/a") async throws -> Response {
        try await agent.start(RequestDescription(endpoint: "GetIssue", url: EndpointURL(raw: url)))
            .response()
    }

    @Test(arguments: [1, 2, 3])
    func eachRecordsEachTransfer(count: Int) async throws {
        transport.on(.get, "/b", ScriptedResponse(status: .serviceUnavailable), .json("[1]"))
        let agent = agent(Array(recorders[..<count]))
        _ = try await run(agent)
        _ = try await run(agent, "/b")
        for recorder in recorders[..<count] {
            let requests = recorder.records.map(\.request)
            #expect(requests.map(\.transfers.count) == [1, 2])
            #expect(requests.allSatisfy { $0.outcome == .response(status: 200, source: .network) })
            let statuses = requests.map { $0.transfers.map { $0.messages.head?.status.code } }
            #expect(statuses == [[200], [503, 200]])
            #expect(requests.last?.transfers.last?.messages.body.bytes == Data("[1]".utf8))
            #expect(requests.allSatisfy { $0.events.isEmpty })
        }
        for recorder in recorders[count...] { #expect(recorder.records.isEmpty) }
    }

    @Test func eachReceivesTheEventsOnceIfItsPageIsOpen() async throws {
        let others = EventRecorder()
        let agent = agent(recorders + [others])
        for recorder in recorders.dropFirst() { recorder.pageCalled() }
        _ = try await run(agent)
        let events = recorders.compactMap { $0.records.first?.request.events }
        #expect(events.map(\.isEmpty) == [true, false, false])
        #expect(events[1].count == events[2].count)
        #expect(events[1].count == others.events.count)
    }

    @Test func rulesOfAllApply() async throws {
        let agent = agent(recorders)
        recorders[0].rules.replace([rule(.throttle) { $0.latency = 100 }])
        recorders[1].rules.replace([rule(.throttle) { $0.bytesPerSecond = 1 }])
        recorders[2].rules.replace([rule(.mock) { $0.body = "[]" }])
        let task = agent.start(RequestDescription(endpoint: "GetIssue", url: "/a"))
        try await clock.untilSleeping()
        clock.advance(by: .milliseconds(100))
        // The mock takes the place of the transport that the earlier listener slows.
        let response = try await task.response()
        #expect(response.data == Data("[]".utf8))
        #expect(transport.requestCount == 0)
        let transfers = recorders.map { $0.records.first?.request.transfers ?? [] }
        #expect(transfers.map(\.count) == [1, 1, 1])
        #expect(transfers.map { $0.first?.isSimulated } == [false, false, true])
        #expect(
            transfers.map { $0.first?.rules } == [["throttle *"], ["throttle *"], ["mock *: 200"]])
        #expect(transfers.allSatisfy { $0.first?.messages.head?.status.code == 200 })
    }

    @Test func ruleOfTheFirstOneIsNotReplacedByTheSecondOne() async throws {
        let agent = agent(recorders)
        recorders[0].rules.replace([rule(.mock) { $0.body = "[0]" }])
        recorders[1].rules.replace([rule(.pause) { _ in }])
        let task = agent.start(RequestDescription(endpoint: "GetIssue", url: "/a"))
        while recorders[1].rules.heldRequests.isEmpty { await Task.yield() }
        recorders[1].rules.releaseAll()
        #expect(try await task.response().data == Data("[0]".utf8))
        #expect(transport.requestCount == 0)
    }

    @Test func eachCaptureHasItsOwnNumbers() throws {
        let captures = [Capture(first: 10), Capture(first: 20), Capture(first: 30)]
        let joined = captures.reduce(nil as (any RequestCapture)?) {
            RequestCapturePair.joining($0, $1)
        }
        let capture = try #require(joined)
        let request = TransportRequest(url: HTTPURL(scheme: "http", host: "a", path: "/"))
        let numbers = (1...2).map { capture.transferStarted(request, attempt: $0) }
        let connection = Response.Connection(host: "a", port: 80, isSecure: false)
        capture.transferUses(connection, numbers[1])
        capture.webSocket(.roundTrip(.seconds(1)), numbers[1])
        capture.transferEnded(numbers[1], nil, nil, nil, Shared(TransferEnd()))
        capture.transferEnded(numbers[0], nil, nil, nil, Shared(TransferEnd()))
        capture.requestEnded(.failure(.cancelled), nil)
        for (number, capture) in zip([10, 20, 30], captures) {
            #expect(
                capture.calls.withLock { $0 } == [
                    "started \(number), attempt 1", "started \(number + 1), attempt 2",
                    "\(number + 1) uses a", "\(number + 1) roundTrip(1.0 seconds)",
                    "\(number + 1) ended", "\(number) ended",
                    "request ended",
                ])
        }
        #expect(!capture.observesEvents && !capture.intervenes)
        captures[2].flag.withLock { $0 = true }
        #expect(capture.observesEvents && capture.intervenes)
    }

    @Test func oneCaptureIsNotWrapped() {
        let capture = Capture(first: 0)
        #expect(RequestCapturePair.joining(nil, capture) === capture)
    }

    /// A capture that notes its calls.
    private final class Capture: RequestCapture {
        let calls = Mutex<[String]>([])
        let flag = Mutex(false)
        private let next: Mutex<Int>

        init(first: Int) { next = Mutex(first) }

        var observesEvents: Bool { flag.withLock { $0 } }
        var intervenes: Bool { flag.withLock { $0 } }
        func intervention(
            in request: TransportRequest, attempt: Int
        ) -> TransferIntervention? { nil }
        func transferStarted(_ request: TransportRequest, attempt: Int) -> Int {
            let number = next.withLock { next in
                defer { next += 1 }
                return next
            }
            calls.withLock { $0.append("started \(number), attempt \(attempt)") }
            return number
        }
        func transport(of transfer: Int, over transport: any Transport) -> (any Transport)? { nil }
        func transferUses(_ connection: Response.Connection, _ transfer: Int) {
            calls.withLock { $0.append("\(transfer) uses \(connection.host)") }
        }
        func webSocket(_ event: WebSocketEvent, _ transfer: Int) {
            calls.withLock { $0.append("\(transfer) \(event)") }
        }
        func transferEnded(
            _ transfer: Int, _ head: ResponseHead?, _ body: Response.Body?,
            _ error: RequestError?, _ end: Shared<TransferEnd>
        ) {
            calls.withLock { $0.append("\(transfer) ended") }
        }
        func requestEnded(
            _ result: Result<Response, RequestError>, _ cacheMiss: CacheMissReason?
        ) {
            calls.withLock { $0.append("request ended") }
        }
    }
}
