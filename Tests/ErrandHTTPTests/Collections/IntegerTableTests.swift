import ErrandHTTP
import Testing

@Suite struct IntegerTableTests {
    @Test func emptyTableHasNoValues() {
        var table = IntegerTable<String>()
        #expect(table.isEmpty)
        #expect(table[0] == nil)
        #expect(table.removeValue(for: 0) == nil)
        #expect(table.values.isEmpty)
    }

    @Test func extremeKeysAreKeptApart() {
        var table = IntegerTable<Int>()
        let keys = [0, -1, 1, .max, .min]
        for (index, key) in keys.enumerated() { table[key] = index }
        #expect(keys.map { table[$0] } == [0, 1, 2, 3, 4])
        table[.min] = nil
        #expect(table[.min] == nil)
        #expect(table.count == 4)
    }

    @Test func changeThroughTheSubscriptIsKept() {
        var table = IntegerTable<[Int]>()
        table[7] = []
        table[7]?.append(1)
        table[8]?.append(2)
        #expect(table[7] == [1])
        #expect(table[8] == nil)
    }

    /// Few different keys, so that they share slots and are often removed; and keys far apart, such as addresses.
    @Test(arguments: [1, 16, 4096])
    func matchesADictionaryOverRandomOperations(step: Int) {
        var table = IntegerTable<Int>()
        var model: [Int: Int] = [:]
        for round in 0..<20_000 {
            let key = Int.random(in: -40..<200) * step
            switch Int.random(in: 0..<5) {
            case 0, 1: (table[key], model[key]) = (round, round)
            case 2: #expect(table.removeValue(for: key) == model.removeValue(forKey: key))
            case 3: #expect(table[key] == model[key])
            default:
                guard round % 500 == 0 else { continue }
                table.removeAll()
                model.removeAll()
            }
            #expect(table.count == model.count)
        }
        #expect(table.values.sorted() == model.values.sorted())
        for key in -50..<250 { #expect(table[key * step] == model[key * step]) }
    }
}
