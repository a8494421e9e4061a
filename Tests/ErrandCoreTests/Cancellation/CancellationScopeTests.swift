import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

@Suite(.limited) struct CancellationScopeTests {
    private final class CallCounter: Sendable {
        private let value = Atomic<Int>(0)
        var count: Int { value.load(ordering: .sequentiallyConsistent) }
        func add() { value.add(1, ordering: .sequentiallyConsistent) }
    }

    @Test func handlerIsCalledOnce() async {
        let (scope, calls) = (CancellationScope(), CallCounter())
        await scope.wait {
            scope.cancel()
            scope.cancel()
            #expect(calls.count == 1)
        } onCancel: {
            calls.add()
        }
        #expect(calls.count == 1)
    }

    @Test func handlerOfACancelledScopeIsCalledAtOnce() async {
        let (scope, calls) = (CancellationScope(), CallCounter())
        scope.cancel()
        await scope.wait {
            #expect(calls.count == 1)
        } onCancel: {
            calls.add()
        }
        #expect(calls.count == 1)
    }

    @Test func handlersOfEndedOperationsAreNotCalled() async {
        let (scope, calls) = (CancellationScope(), CallCounter())
        await scope.wait {
            await scope.wait {
            } onCancel: {
                calls.add()
            }
        } onCancel: {
            calls.add()
        }
        scope.cancel()
        #expect(calls.count == 0)
    }

    @Test func nestedHandlersAreAllCalled() async {
        let (scope, calls) = (CancellationScope(), CallCounter())
        await scope.wait {
            await scope.wait {
                await scope.wait {
                    scope.cancel()
                } onCancel: {
                    calls.add()
                }
            } onCancel: {
                calls.add()
            }
        } onCancel: {
            calls.add()
        }
        #expect(calls.count == 3)
    }

    @Test func runCancelsItsSwiftTask() async {
        let scope = CancellationScope()
        let error = await #expect(throws: CancellationError.self) {
            try await scope.run {
                scope.cancel()
                try Task.checkCancellation()
            }
        }
        #expect(error != nil)
    }

    @Test func runKeepsTaskLocalValues() async throws {
        try await Local.$value.withValue(7) {
            let seen = try await CancellationScope().run { Local.value }
            #expect(seen == 7)
        }
    }

    private enum Local { @TaskLocal static var value = 0 }

    @Test func cancellationReachesChildrenButNotParents() async {
        let parent = CancellationScope()
        await parent.withChild { child in
            child.cancel(.tooLate)
            #expect(child.reason == .tooLate)
        }
        #expect(!parent.isCancelled)
        await parent.withChild { child in
            parent.cancel()
            #expect(child.reason == .cancelled)
            child.cancel(.tooLate)
            #expect(child.reason == .cancelled, "the first reason counts")
        }
        await parent.withChild { #expect($0.isCancelled) }
    }

    @Test func concurrentCancellationCallsTheHandlerOnce() async {
        for _ in 0..<200 {
            let (scope, calls) = (CancellationScope(), CallCounter())
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await scope.wait {
                        while calls.count == 0 { await Task.yield() }
                    } onCancel: {
                        calls.add()
                    }
                }
                for _ in 0..<3 { group.addTask { scope.cancel() } }
            }
            #expect(calls.count == 1)
        }
    }
}
