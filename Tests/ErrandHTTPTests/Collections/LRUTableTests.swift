import ErrandHTTP
import Testing

@Suite struct LRUTableTests {
    @Test func leastRecentlyUsedValueIsEvictedFirst() {
        var table = LRUTable<String, Int>(limit: 3)
        for (index, name) in ["a", "b", "c"].enumerated() {
            table.insert(index, for: name, cost: 1)
        }
        let first = table.value(for: "a")
        #expect(first == 0)
        table.insert(3, for: "d", cost: 1)
        #expect(table.all.map(\.0) == ["d", "a", "c"])
        table.insert(4, for: "e", cost: 2)
        #expect(table.all.map(\.0) == ["e", "d"])
        #expect(table.totalCost == 3)
    }

    @Test func valueAboveTheLimitIsNotStored() {
        var table = LRUTable<String, Int>(limit: 3)
        table.insert(1, for: "a", cost: 1)
        let isKept = table.insert(2, for: "a", cost: 4)
        #expect(!isKept)
        #expect(table.all.isEmpty)
        #expect(table.totalCost == 0)
    }

    @Test func matchesAReferenceModelOverRandomOperations() {
        var table = LRUTable<Int, Int>(limit: 40)
        var model: [(key: Int, value: Int, cost: Int)] = []
        var random = SystemRandomNumberGenerator()
        for step in 0..<5000 {
            let key = Int.random(in: 0..<20, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let found = model.firstIndex { $0.key == key }
                let value = table.value(for: key)
                #expect(value == found.map { model[$0].value })
                if let found { model.insert(model.remove(at: found), at: 0) }
            case 1:
                table.remove(key)
                model.removeAll { $0.key == key }
            default:
                let cost = Int.random(in: 0..<12, using: &random)
                table.insert(step, for: key, cost: cost)
                model.removeAll { $0.key == key }
                model.insert((key, step, cost), at: 0)
                while model.reduce(0, { $0 + $1.cost }) > 40 { model.removeLast() }
            }
            #expect(table.all.map(\.0) == model.map(\.key))
        }
        table.removeAll { key, _ in key % 2 == 0 }
        #expect(table.all.allSatisfy { $0.0 % 2 == 1 })
    }
}
