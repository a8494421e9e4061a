import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

@testable import ErrandDownloadQueue

/// The limits of a queue while its downloads run.
@Suite(.limited) struct QueueLimitsTests {
    let fixture: DownloadQueueFixture
    let transport = ScriptedTransport()

    init() throws { fixture = try DownloadQueueFixture() }

    /// The positions of the downloads that run.
    private func running(_ queue: DownloadQueue) -> [Int] {
        queue.entries.enumerated().filter { $0.element.state == .running }.map { $0.offset }
    }

    @Test func changedTotalAppliesToAQueueThatRuns() async throws {
        let gates = (0..<5).map { _ in Gate() }
        for (number, gate) in gates.enumerated() {
            transport.on(
                .get, "/\(number)", ScriptedResponse(body: Data("content".utf8)).held(by: gate))
        }
        let queue = try await fixture.queue(.init(total: 1, perHost: 5), transport: transport)
        try await queue.add(
            gates.indices.map {
                DownloadQueue.Download(
                    "https://cdn.example.com/\($0)", to: fixture.file("\($0)"))
            })
        try await gates[0].reached()
        #expect(running(queue) == [0])
        queue.limits.total = 3
        try await gates[1].reached()
        try await gates[2].reached()
        #expect(running(queue) == [0, 1, 2])
        queue.limits.total = 1
        #expect(running(queue) == [0, 1, 2])
        for number in 0..<2 {
            gates[number].open()
            await fixture.until(queue) { $0[number].state.isOver }
            // As many as the limit, or more.
            #expect(running(queue) == Array(number + 1...2))
        }
        #expect(transport.requestCount == 3)
        gates[2].open()
        try await gates[3].reached()
        #expect(running(queue) == [3] && transport.requestCount == 4)
        gates[3].open()
        gates[4].open()
        try await queue.untilIdle()
        let files = gates.indices.map { fixture.file("\($0)") }
        #expect(queue.entries.map(\.state) == files.map { DownloadQueue.State.finished($0) })
        await queue.close()
    }

    /// The name of the host in the path of a request, such as `/3/97`.
    private func host(_ path: String) -> String { String(path.dropFirst().prefix { $0 != "/" }) }

    /// Each response waits until the test has checked the limits.
    @Test func manyDownloadsFinishWithinTheLimits() async throws {
        let limits = DownloadQueue.Limits(total: 8, perHost: 2)
        // All downloads of a host follow each other.
        let paths = (0..<300).map { "/\($0 / 30)/\($0)" }
        let gates = Dictionary(uniqueKeysWithValues: paths.map { ($0, Gate()) })
        transport.respond { request in
            gates[request.url.path].map {
                ScriptedResponse(body: Data(request.url.path.utf8)).held(by: $0)
            }
        }
        let queue = try await fixture.queue(limits, transport: transport)
        try await queue.add(
            paths.enumerated().map { number, path in
                DownloadQueue.Download(
                    "https://host\(host(path)).example.com\(raw: path)",
                    to: fixture.file("\(number)"))
            })
        var unfinished = Dictionary(grouping: paths, by: host).mapValues(\.count)
        var finished: [String: Int] = [:]
        var held: [String] = []
        for _ in paths {
            let places = unfinished.values.reduce(0) { $0 + min(limits.perHost, $1) }
            while held.count < min(limits.total, places) {
                held.append(try await transport.nextRequest().url.path)
            }
            let started = Dictionary(grouping: transport.requests.map(\.url.path), by: host)
                .mapValues(\.count)
            let inProgress = started.map { $0.value - finished[$0.key, default: 0] }
            #expect(inProgress.allSatisfy { $0 <= limits.perHost }, "\(inProgress)")
            #expect(inProgress.reduce(0, +) <= limits.total)
            let path = held.removeFirst()
            unfinished[host(path), default: 0] -= 1
            finished[host(path), default: 0] += 1
            gates[path]?.open()
        }
        try await queue.untilIdle()
        for (number, entry) in queue.entries.enumerated() {
            #expect(entry.state == .finished(fixture.file("\(number)")))
            let data = try Data(contentsOf: fixture.file("\(number)"))
            #expect(String(decoding: data, as: UTF8.self) == paths[number])
        }
        #expect(queue.entries.count == 300 && transport.requestCount == 300)
        await queue.close()
    }
}
