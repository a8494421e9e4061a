import ErrandTesting
import Foundation
import Testing

@testable import ErrandCore

@Suite struct TaskTableTests {
    private func task() -> RequestTask {
        RequestTask(
            context: TaskContext(
                id: UUID(), description: RequestDescription(endpoint: "Test", url: ""),
                configuration: Configuration(), transport: ScriptedTransport(), store: nil,
                clock: ManualClock()))
    }

    /// Against a dictionary, over a random order of entering and leaving.
    @Test func holdsWhatEnteredAndHasNotLeft() {
        var random = SystemRandomNumberGenerator()
        var table = TaskTable()
        var model: [Int: RequestTask] = [:]
        for _ in 0..<3000 {
            if Bool.random(using: &random) || model.isEmpty {
                let task = task()
                let place = table.add(task)
                #expect(model[place] == nil)
                model[place] = task
            } else if let (place, task) = model.randomElement() {
                #expect(table.remove(at: place) === task)
                #expect(table.remove(at: place) == nil)
                model[place] = nil
            }
            #expect(table.count == model.count)
        }
        #expect(Set(table.tasks.map(\.id)) == Set(model.values.map(\.id)))
        for place in model.keys { _ = table.remove(at: place) }
        #expect(table.isEmpty && table.tasks.isEmpty)
    }

    @Test func aPlaceThatIsNoneHoldsNobody() {
        var table = TaskTable()
        #expect(table.remove(at: -1) == nil)
        #expect(table.remove(at: 0) == nil)
    }
}
