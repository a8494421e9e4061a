import Testing

@testable import ErrandHTTP

@Suite struct CopyOnWriteTests {
    @Test func aChangeOfACopyLeavesTheOriginal() {
        let original = CopyOnWrite(["a"])
        var copy = original
        copy.change { $0.append("b") }
        #expect(original.value == ["a"] && copy.value == ["a", "b"])
    }

    @Test func onlyASharedBoxIsCopied() {
        var value = CopyOnWrite(1)
        let first = ObjectIdentifier(value.box)
        value.change { $0 += 1 }
        #expect(value.value == 2 && ObjectIdentifier(value.box) == first)
        let copy = value
        value.change { $0 += 1 }
        #expect(value.value == 3 && ObjectIdentifier(value.box) != first)
        #expect(copy.value == 2 && ObjectIdentifier(copy.box) == first)
    }
}
