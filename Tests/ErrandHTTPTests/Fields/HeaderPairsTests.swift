import Testing

@testable import ErrandHTTP

@Suite struct HeaderPairsTests {
    @Test func literalKeepsItsOrderAndRepeatedNames() {
        let pairs: HeaderPairs = ["X-B": "1", "X-A": "2", "x-b": "3"]
        #expect(pairs.map(\.name) == ["X-B", "X-A", "x-b"])
        #expect(pairs.map(\.value) == ["1", "2", "3"])
        #expect(pairs["X-b"] == "1, 3" && pairs["X-C"] == nil)
        #expect(pairs == HeaderPairs([("X-B", "1"), ("X-A", "2"), ("x-b", "3")]))
        #expect(pairs != ["X-B": "1"] && HeaderPairs().isEmpty)
    }

    @Test func settingAValueReplacesAllValuesOfTheName() {
        var pairs = HeaderPairs(["b": "2", "a": "1"])
        #expect(pairs.map(\.name) == ["a", "b"])
        pairs.append("A", "3")
        pairs["a"] = "4"
        #expect(pairs == ["b": "2", "a": "4"])
        pairs["B"] = nil
        #expect(pairs.count == 1 && pairs[0].value == "4")
    }

    @Test func printedFormsContainNoValues() {
        let pairs: HeaderPairs = ["X-Token": "hunter2"]
        var dumped = ""
        dump(pairs, to: &dumped)
        for text in ["\(pairs)", String(reflecting: pairs), dumped] {
            #expect(text.contains("X-Token") && !text.contains("hunter2"))
        }
    }
}
