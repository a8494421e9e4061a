import Testing

@testable import ErrandInspector

@Suite("Inspector: bounded memory")
struct BoundedHistoryTests {
    @Test func oldestValueIsRemovedAndNumbersContinue() {
        var history = BoundedHistory<String>(limit: 3)
        for name in ["a", "b", "c"] { _ = history.add(name) }
        let result1 = history.add("d")
        #expect(result1 == "a")
        #expect(history.values == ["b", "c", "d"])
        #expect(history.firstID == 2)
        #expect(history.nextID == 5)
        #expect(history[1] == nil)
        #expect(history[2] == "b")
        #expect(history[4] == "d")
        #expect(history[5] == nil)
    }

    @Test func manyValuesKeepTheirNumbers() {
        var history = BoundedHistory<Int>(limit: 10)
        for number in 1...1000 { _ = history.add(number) }
        #expect(history.values == Array(991...1000))
        #expect((991...1000).allSatisfy { history[$0] == $0 })
        #expect(history.count == 10)
    }

    @Test func removalOfAllContinuesNumbers() {
        var history = BoundedHistory<Int>(limit: 4)
        for number in 1...6 { _ = history.add(number) }
        history.removeAll()
        #expect(history.values.isEmpty)
        #expect(history.nextID == 7)
        _ = history.add(7)
        #expect(history[7] == 7)
        #expect(history[6] == nil)
    }

    @Test func firstRecordedBodiesAreRemovedFirst() {
        var budget = BodyBudget(limit: 100)
        let result2 = budget.add(60, of: 1)
        #expect(result2 == [])
        let result3 = budget.add(40, of: 2)
        #expect(result3 == [])
        let result4 = budget.add(1, of: 3)
        #expect(result4 == [1])
        #expect(budget.used == 41)
        let result5 = budget.add(0, of: 4)
        #expect(result5 == [])
        let result6 = budget.add(101, of: 5)
        #expect(result6 == [2, 3, 5])
        #expect(budget.used == 0)
    }

    @Test func bodiesOfRemovedRequestsDoNotCount() {
        var budget = BodyBudget(limit: 100)
        _ = budget.add(50, of: 1)
        _ = budget.add(30, of: 2)
        budget.removeAll(before: 2)
        #expect(budget.used == 30)
        let result7 = budget.add(70, of: 3)
        #expect(result7 == [])
        let result8 = budget.add(1, of: 4)
        #expect(result8 == [2])
    }

    @Test func manyBodiesNeedNoMoreThanTheLimit() {
        var budget = BodyBudget(limit: 1000)
        var removed: [Int] = []
        for id in 1...500 { removed += budget.add(10, of: id) }
        #expect(budget.used == 1000)
        #expect(removed == Array(1...400))
    }
}
