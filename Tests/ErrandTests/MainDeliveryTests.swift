import ErrandCore
import ErrandTesting
import Foundation
import Testing

@testable import Errand

@MainActor @Suite(.timeLimit(.minutes(1))) struct MainDeliveryTests {
    @Test func theOrderIsThatOfTheEnds() async {
        let delivery = MainDelivery()
        var order: [Int] = []
        for index in 0..<20 { delivery.deliver { order.append(index) } }
        #expect(order.isEmpty, "never on the caller's turn")
        await withCheckedContinuation { continuation in delivery.deliver { continuation.resume() } }
        #expect(order == Array(0..<20))
    }

    @Test func whatIsDeliveredDuringATurnComesInALaterOne() async {
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
        // And after it has come to rest it begins again.
        await withCheckedContinuation { continuation in delivery.deliver { continuation.resume() } }
    }

    @Test func nothingIsLostWhenManyThreadsDeliver() async {
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
    /// Tells of the end of some task.
    fileprivate func deliver(_ body: @escaping @MainActor () -> Void) {
        let task = RequestTask(
            context: TaskContext(
                id: UUID(), description: RequestDescription(endpoint: "E", url: "/"),
                configuration: Configuration(), transport: ScriptedTransport(), store: nil,
                clock: SystemClock()))
        let outcome = TaskOutcome(result: .failure(.cancelled))
        deliver(outcome, of: task) { _ in body() }
    }
}
