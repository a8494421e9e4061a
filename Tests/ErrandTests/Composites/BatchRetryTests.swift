import Errand
import ErrandTesting
import TestSupport
import Testing

/// `repeatsOnlyFailures` of batches.
@Suite(.limited) struct BatchRetryTests {
    private let fixture = AgentFixture()

    private func batch(_ policy: BatchRequest.Policy) -> BatchRequest {
        BatchRequest(
            ["a", "b", "c"].map { fixture.with(Plain($0)) }, policy: policy, maxConcurrent: 1)
    }

    private var paths: [String] { fixture.transport.requests.map(\.url.path) }

    private func respond(_ failing: Set<String>) {
        fixture.transport.respond { request in
            .json("{}", status: failing.contains(request.url.path) ? .notFound : .ok)
        }
    }

    @Test func retryRepeatsTheMembersThatFailedAndKeepsTheOtherResults() async throws {
        respond(["/b"])
        let batch = batch(.collectAll)
        #expect(try await batch.send().map { (try? $0.get()) != nil } == [true, false, true])
        respond([])
        batch.repeatsOnlyFailures = true
        #expect(try await batch.send().map { (try? $0.get()) != nil } == [true, true, true])
        #expect(paths == ["/a", "/b", "/c", "/b"])
        var members: RequestTask.Members?
        try await batch.send { members = $0.members }
        #expect(paths.count == 4 && members?.total == 0 && members?.finished == 0)
        batch.repeatsOnlyFailures = false
        try await batch.send()
        #expect(paths.count == 7)
    }

    @Test func retryRunsMembersThatWereNotStarted() async throws {
        respond(["/b"])
        let batch = batch(.failFast)
        _ = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(paths == ["/a", "/b"] && batch.failedRequest?.url == "b")
        respond([])
        batch.repeatsOnlyFailures = true
        try await batch.send()
        #expect(paths == ["/a", "/b", "/b", "/c"] && batch.failedRequest == nil)
    }

    @Test func retryCountsEarlierSuccesses() async throws {
        respond(["/b", "/c"])
        let batch = batch(.quorum(2))
        _ = await #expect(throws: RequestError.self) { try await batch.send() }
        respond(["/c"])
        batch.repeatsOnlyFailures = true
        try await batch.send()
        #expect(paths == ["/a", "/b", "/c", "/b"])
    }

    @Test func retryBeforeTheFirstRunSendsAll() async throws {
        respond([])
        let batch = batch(.failFast)
        batch.repeatsOnlyFailures = true
        try await batch.send()
        #expect(paths == ["/a", "/b", "/c"])
    }
}
