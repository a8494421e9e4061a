import Errand
import ErrandTesting
import TestSupport
import Testing

@Suite(.limited) @MainActor struct RequestOwnerTests {
    private final class Model {
        let requests = RequestOwner()
    }

    @Test func deallocatedOwnerCancelsItsRequest() async {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        var model: Model? = Model()
        let code: RequestError.Code? = await withCheckedContinuation { continuation in
            fixture.with(Plain("x")).start(owner: model?.requests) { _ in
                continuation.resume(returning: nil)
            } failure: { _, error in
                continuation.resume(returning: error.code)
            }
            #expect(model?.requests.count == 1)
            model = nil
        }
        #expect(code == .cancelled)
    }

    @Test func deallocatedOwnerCancelsItsBatchesAndChains() async {
        for isChain in [false, true] {
            let fixture = AgentFixture()
            fixture.transport.on(nil, nil, .silence)
            var model: Model? = Model()
            let code: RequestError.Code? = await withCheckedContinuation { continuation in
                if isChain {
                    let chain = ChainRequest()
                    chain.add(fixture.with(Plain("x")))
                    chain.start(owner: model?.requests) { _ in
                        continuation.resume(returning: nil)
                    } failure: { _, error in
                        continuation.resume(returning: error.code)
                    }
                } else {
                    let members = [fixture.with(Plain("x")), fixture.with(Plain("y"))]
                    BatchRequest(members).start(owner: model?.requests) { _ in
                        continuation.resume(returning: nil)
                    } failure: { _, error in
                        continuation.resume(returning: error.code)
                    }
                }
                model = nil
            }
            #expect(code == .cancelled)
        }
    }

    @Test func ownerReleasesEndedRequestsAndBatches() async {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("{}"))
        let owner = RequestOwner()
        weak var weakRequest: Plain?
        weak var weakBatch: BatchRequest?
        do {
            let request = fixture.with(Plain("x"))
            weakRequest = request
            await withCheckedContinuation { continuation in
                request.start(owner: owner) { _ in
                    continuation.resume()
                } failure: { _, _ in
                    continuation.resume()
                }
            }
            let batch = BatchRequest([fixture.with(Plain("x"))])
            weakBatch = batch
            var task: RequestTask?
            await withCheckedContinuation { continuation in
                task = batch.start(owner: owner) { _ in
                    continuation.resume()
                } failure: { _, _ in
                    continuation.resume()
                }
            }
            task?.bind(to: owner)
            task?.cancel()
            #expect(task?.phase == .ended)
        }
        #expect(owner.count == 0)
        for _ in 0..<1000 where weakRequest != nil || weakBatch != nil { await Task.yield() }
        #expect(weakRequest == nil && weakBatch == nil)
    }
}
