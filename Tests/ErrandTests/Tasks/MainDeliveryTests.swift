import ErrandCore
import TestSupport
import Testing

@testable import Errand

@MainActor @Suite(.limited) struct MainDeliveryTests {
    @Test func callbacksRunInTheOrderOfTheEnds() async {
        let delivery = MainDelivery()
        var order: [Int] = []
        for index in 0..<20 { delivery.deliver { order.append(index) } }
        #expect(order.isEmpty, "deliver never calls back synchronously")
        await withCheckedContinuation { continuation in delivery.deliver { continuation.resume() } }
        #expect(order == Array(0..<20))
    }

    @Test func callbackDeliveredDuringACallbackRunsLater() async {
        let delivery = MainDelivery()
        var lines: [String] = []
        await withCheckedContinuation { continuation in
            delivery.deliver {
                lines.append("first")
                delivery.deliver {
                    lines.append("third")
                    continuation.resume()
                }
                lines.append("second")
            }
        }
        #expect(lines == ["first", "second", "third"])
        // An idle delivery starts again.
        await withCheckedContinuation { continuation in delivery.deliver { continuation.resume() } }
    }

    /// The allocator can then use its memory for the requests that the next one starts.
    @Test func callbackIsReleasedBeforeTheNextOneIsCalled() async {
        let delivery = MainDelivery()
        weak var first: Capture?
        do {
            let capture = Capture()
            first = capture
            delivery.deliver { capture.isCalled = true }
        }
        #expect(first != nil)
        let isReleased = await withCheckedContinuation { continuation in
            delivery.deliver { continuation.resume(returning: first == nil) }
        }
        #expect(isReleased)
    }

    @MainActor private final class Capture {
        var isCalled = false
    }

    @Test func concurrentDeliveriesAreAllCalled() async {
        let delivery = MainDelivery()
        var count = 0
        await withCheckedContinuation { continuation in
            let arrived: @MainActor @Sendable () -> Void = {
                count += 1
                if count == 4000 { continuation.resume() }
            }
            for _ in 0..<4 {
                Task.detached { for _ in 0..<1000 { delivery.deliver(arrived) } }
            }
        }
        #expect(count == 4000)
    }
}

extension MainDelivery {
    /// Delivers an end to the callback.
    fileprivate func deliver(_ body: @escaping @MainActor () -> Void) {
        deliver(TaskOutcome(result: .failure(.cancelled))) { _ in body() }
    }
}
