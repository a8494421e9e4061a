import Foundation
import Testing

@testable import ErrandCore

@Suite struct TaskTableTests {
    private func task() -> RequestTask {
        RequestTask.forTest()
    }

    /// Compares the table with a dictionary over random insertions and removals.
    @Test func matchesADictionaryOverRandomOperations() {
        var random = SystemRandomNumberGenerator()
        var table = TaskTable()
        var model: [Int: RequestTask] = [:]
        for _ in 0..<3000 {
            if Bool.random(using: &random) || model.isEmpty {
                let task = task()
                let index = table.add(task)
                #expect(model[index] == nil)
                model[index] = task
            } else if let (index, task) = model.randomElement() {
                #expect(table.remove(at: index) === task)
                #expect(table.remove(at: index) == nil)
                model[index] = nil
            }
            #expect(table.count == model.count)
        }
        #expect(Set(table.tasks.map(\.id)) == Set(model.values.map(\.id)))
        for index in model.keys { _ = table.remove(at: index) }
        #expect(table.isEmpty && table.tasks.isEmpty)
    }

    /// A new table begins at 0; one that kept its memory uses the place that became free last.
    @Test(arguments: [(10, 9), (2000, 0)]) func memoryIsReleasedAfterABurst(
        count: Int, next: Int
    ) {
        var table = TaskTable()
        let tasks = (0..<count).map { _ in task() }
        let indices = tasks.map { table.add($0) }
        for (index, task) in zip(indices, tasks) { #expect(table.remove(at: index) === task) }
        #expect(table.isEmpty)
        #expect(table.add(task()) == next)
        #expect(table.count == 1)
    }

    @Test func removingAtAnInvalidIndexReturnsNil() {
        var table = TaskTable()
        #expect(table.remove(at: -1) == nil)
        #expect(table.remove(at: 0) == nil)
    }
}
