import Testing

@testable import ErrandOpenAPI

/// JSON and YAML, with lines.
@Suite(.limited) struct ReaderTests {
    private func json(_ text: String) throws -> Node {
        var reader = JSONText(text)
        return try reader.read()
    }

    private func yaml(_ text: String) throws -> Node {
        var reader = YAMLText(text)
        return try reader.read()
    }

    @Test func jsonKeepsLinesOfMembersAndItems() throws {
        let node = try json("{\n  \"a\": [1,\n    {\"b\": true}],\n  \"c\": null\n}")
        #expect(node.line == 1)
        #expect(node["a"]?.line == 2)
        #expect(node["a"]?.items?[1].line == 3)
        #expect(node["c"]?.line == 4)
        #expect(node["c"]?.isNull == true)
    }

    @Test func yamlKeepsLinesOfMembersAndItems() throws {
        let node = try yaml("a:\n  - 1\n  - b: true\nc:\n  d: x\n")
        #expect(node.line == 1)
        #expect(node["a"]?.items?[1]["b"]?.line == 3)
        #expect(node["c"]?.line == 4)
        #expect(node["c"]?["d"]?.line == 5)
    }

    @Test func jsonTextIsDecoded() throws {
        let node = try json(#"["\u00e9\ud83d\ude00\n\/", -1.5e2, "ü"]"#)
        #expect(node.items?[0].string == "é😀\n/")
        #expect(node.items?[1].double == -150)
        #expect(node.items?[2].string == "ü")
    }

    @Test(arguments: [
        ("{\"a\": 1,\n}", 2), ("[1\n2]", 2), ("{\"a\": 1} 2", 1), ("{\"a\n\": 1}", 1), ("", 1),
        ("[nope]", 1), (#"["\x"]"#, 1),
    ])
    func invalidJSONIsReportedWithItsLine(text: String, line: Int) {
        let fault = #expect(throws: JSONText.Fault.self) { try json(text) }
        #expect(fault?.line == line)
    }

    @Test func deepJSONIsRefused() {
        let text = String(repeating: "[", count: 100_000)
        #expect(throws: JSONText.Fault.self) { try json(text) }
    }

    @Test func scalarsOfYAMLFollowTheCoreSchema() throws {
        let node = try yaml(
            "a: yes\nb: on\nc: true\nd: 012\ne: 0x1F\nf: ~\ng: '1'\nh: 1e3\ni: 2024-01-01\nj: 3.0.1\n200: k\n"
        )
        #expect(node["a"]?.string == "yes")
        #expect(node["b"]?.string == "on")
        #expect(node["c"]?.bool == true)
        #expect(node["d"]?.int == 12)
        #expect(node["e"]?.int == 31)
        #expect(node["f"]?.isNull == true)
        #expect(node["g"]?.string == "1")
        #expect(node["h"]?.double == 1000)
        #expect(node["i"]?.string == "2024-01-01")
        #expect(node["j"]?.string == "3.0.1")
        #expect(node["200"]?.string == "k")
    }

    @Test func anchorsAndMergeKeysOfYAML() throws {
        let node = try yaml("base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\n")
        #expect(node["own"]?["x"]?.int == 1)
        #expect(node["own"]?["y"]?.int == 3)
    }

    @Test func expansionOfAliasesHasALimit() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let items = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(items)]\n"
        }
        #expect(throws: JSONText.Fault.self) { try yaml(text) }
    }

    @Test func invalidYAMLIsReportedWithItsLine() {
        let fault = #expect(throws: JSONText.Fault.self) { try yaml("a: 1\nb: [1\nc: 2\n") }
        #expect((fault?.line ?? 0) >= 2)
    }

    @Test func nodesAreWrittenAsJSON() throws {
        let text = #"{"a":[1,"x\n\"",null,true],"b":{}}"#
        #expect(try json(text).json == text)
    }
}
