import Dispatch
import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Behavior of batches and chains on which XMNetworking, YTKNetwork, HLNetworking and RBEFireworks differ or fail.
@Suite(.limited) @MainActor struct CompositeBehaviorTests {
    private let fixture = CompositeFixture()

    // MARK: - Members and results

    private final class Download: BaseRequest, FileOutput {
        let destination: URL
        init(_ destination: URL) { self.destination = destination }
        override var url: EndpointURL { "download" }
        var download: DownloadPlan { .to(destination) }
    }

    private final class Upload: BaseRequest {
        override var url: EndpointURL { "upload" }
        override var method: HTTPMethod { .post }
        override var body: HTTPBody? { .data(Data("abc".utf8), contentType: "text/plain") }
    }

    @Test func batchAndChainContainDownloadsUploadsAndInlineRequests() async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-member-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        func members() -> [BaseRequest] {
            [Download(file), Upload(), InlineRequest("inline"), GetUser(id: 1)]
        }
        let results = try await BatchRequest(members()).send(on: fixture.agent)
        #expect(results.allSatisfy { (try? $0.get()) != nil })
        #expect(try Data(contentsOf: file).starts(with: Data(#"{"path":"/download""#.utf8)))
        let chain = ChainRequest()
        for member in members() { chain.add(member) }
        try await chain.send(on: fixture.agent)
        let paths = ["/download", "/inline", "/upload", "/users?id=1"]
        #expect(fixture.paths.sorted() == (paths + paths).sorted())
        #expect(
            Array(fixture.paths.suffix(4)) == ["/download", "/upload", "/inline", "/users?id=1"])
    }

    @Test func laterChangesOfTheArrayDoNotChangeTheBatch() async throws {
        var members = [fixture.plain("a")]
        let batch = BatchRequest(members)
        members.append(fixture.plain("b"))
        #expect(try await batch.send().count == 1)
    }

    @Test func failedBatchKeepsTheResultsOfItsMembers() async throws {
        let members = ["a", "bad", "c"].map(fixture.plain)
        let batch = BatchRequest(members, maxConcurrent: 1)
        _ = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(try batch.results[0].get().json["path"].string == "/a")
        let codes = batch.results.map { $0.failure?.code }
        #expect(codes == [nil, .unacceptableStatus, .cancelled])
        // The error of a member that was not sent names it.
        #expect(batch.results[2].failure?.endpoint == "Plain")
        #expect(batch.failedRequest === members[1])
    }

    @Test func responseWithoutABodyIsASuccessOfABatchAndOfAChain() async throws {
        fixture.transport.respond { _ in ScriptedResponse(status: .noContent) }
        let results = try await BatchRequest([fixture.plain("a")], policy: .firstSuccess).send()
        #expect(try results[0].get().data.isEmpty)
        let chain = ChainRequest()
        var hasBody: Bool?
        chain.add(fixture.plain("a")).then { [fixture] member in
            hasBody = member.response?.data.isEmpty == false
            return fixture.plain("b")
        }
        #expect(try await chain.send().count == 2 && hasBody == false)
    }

    @Test func emptyCompositesCallTheirClosuresOnce() async {
        var ends: [String] = []
        await withCheckedContinuation { continuation in
            BatchRequest([]).start { _ in
                ends.append("batch")
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            ChainRequest().start { _ in
                ends.append("chain")
                continuation.resume()
            }
        }
        #expect(ends == ["batch", "chain"])
    }

    @Test func batchIsFromCacheIfAllResponsesAre() async throws {
        let batch = BatchRequest([fixture.base.with(CachedRequest())])
        try await batch.send()
        #expect(!batch.isFromCache)
        try await batch.send()
        #expect(batch.isFromCache)
        let mixed = BatchRequest([fixture.base.with(CachedRequest()), fixture.plain("a")])
        try await mixed.send()
        #expect(!mixed.isFromCache && mixed.requests[0].response?.isFromCache == true)
    }

    // MARK: - Callbacks

    private final class Delegate: RequestDelegate {
        var lines: [String] = []
        func requestDidFinish(_ request: BaseRequest) { lines.append("\(request.url) delegate") }
        func compositeDidFinish(_ composite: CompositeRequest) { lines.append("delegate") }
    }

    @Test func membersKeepTheirDelegatesAndClosuresAndAreCalledFirst() async throws {
        let delegate = Delegate()
        for isChain in [false, true] {
            let member = fixture.plain("a")
            member.delegate = delegate
            member.attach { _ in delegate.lines.append("a closure") }
            let composite: CompositeRequest =
                isChain ? ChainRequest { member } : BatchRequest([member])
            composite.delegate = delegate
            await withCheckedContinuation { continuation in
                let end = {
                    delegate.lines.append("closure")
                    continuation.resume()
                }
                (composite as? BatchRequest)?.start { _ in end() }
                (composite as? ChainRequest)?.start { _ in end() }
            }
            #expect(delegate.lines == ["a delegate", "a closure", "delegate", "closure"])
            #expect(member.delegate === delegate)
            delegate.lines = []
        }
    }

    @Test func callbacksOfMembersCanUseTheRunningBatch() async throws {
        let members = ["a", "b", "c"].map(fixture.plain)
        let batch = BatchRequest(members, policy: .collectAll, maxConcurrent: 1)
        var counts: [Int] = []
        for member in members {
            member.attach { [unowned batch] _ in
                counts.append(batch.task?.members?.finished ?? -1)
                batch.task?.suspend()
                batch.task?.resume()
                _ = (batch.requests.count, batch.results.count, batch.members)
            }
        }
        members[1].attach { [unowned batch] _ in batch.task?.cancel() }
        let error = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(error?.code == .cancelled && counts == [1])
        #expect(batch.results.map { $0.failure?.code } == [nil, nil, .cancelled])
    }

    // MARK: - Chains

    @Test func finishCallsTheSuccessClosureAndTheDelegate() async {
        let delegate = Delegate()
        let chain = ChainRequest()
        chain.add(fixture.plain("a")) { chain, _ in chain.finish() }
        chain.add(fixture.plain("never"))
        chain.delegate = delegate
        await withCheckedContinuation { continuation in
            chain.start { _ in
                delegate.lines.append("closure")
                continuation.resume()
            } failure: { _, _ in
                continuation.resume()
            }
        }
        #expect(delegate.lines == ["delegate", "closure"] && fixture.paths == ["/a"])
    }

    @Test func cancelledChainCanBeStartedAgainFromItsFirstStep() async throws {
        let chain = ChainRequest()
        var cancels = true
        chain.add(fixture.plain("a")) { chain, _ in if cancels { chain.task?.cancel() } }
        chain.add(fixture.plain("b"))
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(error?.code == .cancelled)
        cancels = false
        try await chain.send()
        #expect(fixture.paths == ["/a", "/a", "/b"])
    }

    @Test func errorOfAChainHasTheResponsesBeforeTheFailure() async throws {
        let inner = ChainRequest {
            fixture.plain("c")
            fixture.plain("bad")
        }
        let chain = ChainRequest {
            fixture.plain("a")
            BatchRequest([fixture.plain("b")])
            inner
        }
        func paths(_ error: RequestError?) -> [String?] {
            error?.precedingResponses.map { $0.json["path"].string } ?? []
        }
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(paths(error) == ["/a", "/b", "/c"] && error?.code == .unacceptableStatus)
        #expect(chain.failedStep?.responses.count == 2 && inner.failedStep?.responses.count == 1)
        // Also if it ends between two steps.
        let cancelling = ChainRequest()
        cancelling.add(fixture.plain("a")) { chain, _ in chain.task?.cancel() }
        cancelling.add(fixture.plain("b"))
        let cancelled = await #expect(throws: RequestError.self) { try await cancelling.send() }
        #expect(cancelled?.code == .cancelled && paths(cancelled) == ["/a"])
        let failing = ChainRequest { fixture.plain("bad") }
        let first = await #expect(throws: RequestError.self) { try await failing.send() }
        #expect(first?.precedingResponses.isEmpty == true)
    }

    // MARK: - Retention

    /// How a composite without a delegate and without a reference to it ends.
    enum Ending: CaseIterable { case success, failure, cancelled, refused }

    @Test(arguments: Ending.allCases, [false, true])
    func compositeAndItsMembersAreReleasedAfterTheClosures(ending: Ending, isChain: Bool) async {
        weak var released: AnyObject?
        weak var member: Plain?
        weak var task: RequestTask?
        do {
            let request = fixture.plain(ending == .failure ? "bad" : "a")
            member = request
            if ending == .cancelled { fixture.transport.respond { _ in .silence } }
            await withCheckedContinuation { continuation in
                let started: RequestTask
                if isChain {
                    let chain = ChainRequest()
                    chain.add(request) { _, member in _ = member.url }.then { _ in Plain?.none }
                    if ending == .refused { chain.deadline = .zero }
                    released = chain
                    started = chain.start(finished: { _ in continuation.resume() })
                } else {
                    let batch = BatchRequest([request])
                    if ending == .refused { batch.deadline = .zero }
                    released = batch
                    _ = batch.members
                    started = batch.start(finished: { _ in continuation.resume() })
                }
                task = started
                if ending == .cancelled { started.cancel() }
            }
        }
        for _ in 0..<5000 where released != nil || member != nil || task != nil {
            await Task.yield()
        }
        #expect(released == nil && member == nil && task == nil)
    }

    // MARK: - Size

    @Test func chainOfTenThousandRequestsDoesNotGrowTheStack() async throws {
        var depths: [Int] = []
        weak var released: ChainRequest?
        var count = 0
        do {
            let chain = ChainRequest()
            released = chain
            let agent = fixture.agent
            fixture.transport.maximumRecordedRequests = 10
            var last = chain.add(Plain("a"))
            for _ in 1..<10_000 {
                last = last.then { _ in
                    depths.append(Thread.callStackReturnAddresses.count)
                    return Plain("a")
                }
            }
            count = try await chain.send(on: agent).count
        }
        #expect(count == 10_000 && released == nil)
        #expect(depths.count == 9_999)
        // Frames rather than addresses, which a sanitizer does not take from the stack. At most 128 are counted: a frame
        // for each step would soon reach them.
        #expect((depths.max() ?? 0) < 100)
    }
}
