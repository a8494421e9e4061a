import ErrandCore
import ErrandCurl
import Foundation
import HTTPTypes
import Synchronization

/// Notes everything a transfer brings and lets a test wait for any of it.
final class Recorder: TransferReceiver {
    struct Record: Sendable {
        var interim: [ResponseHead] = []
        var head: ResponseHead?
        var body = Data()
        var chunks = 0
        var sent: [Int64] = []
        var ends: [TransferEnd] = []
        /// Calls after the end, or out of order.
        var violations: [String] = []

        var error: RequestError? { ends.first?.error }
    }

    private struct State {
        var record = Record()
        var waiting:
            [(condition: @Sendable (Record) -> Bool, wake: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    private let demand: @Sendable (Int) -> Demand
    private let keepsBody: Bool

    /// `demand` gets the number of the chunk, the first is 1.
    init(keepsBody: Bool = true, demand: @escaping @Sendable (Int) -> Demand = { _ in .more }) {
        self.keepsBody = keepsBody
        self.demand = demand
    }

    var record: Record { state.withLock { $0.record } }

    func didReceive(informational head: ResponseHead) { note { $0.interim.append(head) } }

    func didReceive(head: ResponseHead) {
        note { record in
            if record.head != nil { record.violations.append("second head") }
            record.head = head
        }
    }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
        let copy = keepsBody ? Data(bytes) : Data()
        note { record in
            if record.head == nil { record.violations.append("bytes before the head") }
            record.body.append(copy)
            record.chunks += 1
        }
        return demand(record.chunks)
    }

    func didSend(bodyBytes: Int64) { note { $0.sent.append(bodyBytes) } }

    func didEnd(_ end: TransferEnd) { note(isEnd: true) { $0.ends.append(end) } }

    /// Waits until the record is as wanted, and returns it.
    @discardableResult
    func wait(until condition: @escaping @Sendable (Record) -> Bool) async -> Record {
        await withCheckedContinuation { wake in
            let isThere = state.withLock { state in
                if condition(state.record) { return true }
                state.waiting.append((condition, wake))
                return false
            }
            if isThere { wake.resume() }
        }
        return record
    }

    /// Waits for the end.
    @discardableResult
    func end() async -> Record { await wait { !$0.ends.isEmpty } }

    private func note(isEnd: Bool = false, _ change: (inout Record) -> Void) {
        let woken = state.withLock { state in
            if !state.record.ends.isEmpty {
                state.record.violations.append(isEnd ? "second end" : "call after the end")
            }
            change(&state.record)
            let record = state.record
            let ready = state.waiting.filter { $0.condition(record) }
            state.waiting.removeAll { $0.condition(record) }
            return ready
        }
        for waiting in woken { waiting.wake.resume() }
    }
}

/// What a test cannot go on without.
struct Missing: Error {}

extension URI {
    /// A URL of the form `http://host:port/path?query`, enough for tests.
    static func test(_ text: String) throws -> URI {
        guard let parts = URLComponents(string: text) else { throw Missing() }
        return URI(
            scheme: parts.scheme, host: parts.host, port: parts.port,
            path: parts.percentEncodedPath, query: parts.percentEncodedQuery)
    }
}

extension CurlTransport {
    /// Sends a request and waits for its end.
    func run(
        _ method: HTTPMethod = .get, _ url: String, headers: HTTPFields = [:],
        body: HTTPBody? = nil, change: (inout TransportRequest) -> Void = { _ in }
    ) async throws -> Recorder.Record {
        var request = TransportRequest(
            method: method, url: try URI.test(url), headers: headers, body: body)
        change(&request)
        let recorder = Recorder()
        _ = start(request, receiver: recorder)
        return await recorder.end()
    }
}
