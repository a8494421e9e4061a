import ErrandJSON
import Testing

@Suite struct JSONShapeTests {
    let shape: JSONShape = [
        "total": .int,
        "users": [["id": .number, "nick": .string, "bio": .optional(.string)]],
    ]

    private func fault(_ shape: JSONShape, _ text: String) throws -> String? {
        let json = try JSON(parsing: text)
        let first = shape.firstFault(in: json)
        #expect(shape.faults(in: json).first == first)
        #expect((try? shape.validate(json)) == nil ? first != nil : first == nil)
        return first?.description
    }

    @Test func matchingDocumentsAreAccepted() throws {
        #expect(
            try fault(
                shape, #"{"x":1,"users":[{"nick":"a","id":1.5},{"id":2,"nick":"b"}],"total":2}"#)
                == nil)
        #expect(try fault(shape, #"{"users":[],"total":0}"#) == nil)
    }

    @Test func firstFaultHasThePath() throws {
        #expect(
            try fault(shape, #"{"total":1,"users":[{"id":1,"nick":"a"},{"id":"1","nick":"a"}]}"#)
                == "$['users'][1]['id']: expected a number, found a string")
        #expect(
            try fault(shape, #"{"total":1,"users":[{"id":1}]}"#)
                == "$['users'][0]['nick']: expected a string, found nothing: the key is missing")
        #expect(try fault(shape, "[]") == "$: expected an object, found an array of 0")
    }

    @Test func nullIsAcceptedForAKeyAndRejectedInAnArray() throws {
        #expect(try fault(["a": .string], #"{"a":null}"#) == nil)
        #expect(try fault([.string], "[null]") == "$[0]: expected a string, found null")
        #expect(try fault(["a": [:]], "null") == "$: expected an object, found null")
    }

    @Test func strictRejectsNullUnlessAllowed() throws {
        #expect(
            try fault(.strict(["a": ["b": .string]]), #"{"a":{"b":null}}"#)
                == "$['a']['b']: expected a string, found null")
        #expect(try fault(.strict(["a": .nullable(.string)]), #"{"a":null}"#) == nil)
        #expect(try fault(.strict(["a": .optional(.string)]), #"{"a":null}"#) == nil)
        #expect(try fault(["a": .nonNull(.string)], #"{"a":null}"#) != nil)
        #expect(try fault([.nullable(.int)], "[1,null]") == nil)
    }

    @Test func boolsAreAcceptedAsNumberOnly() throws {
        #expect(try fault([.number], "[true,1,1.5]") == nil)
        #expect(try fault([.int], "[true]") != nil)
        #expect(try fault([.double], "[false]") != nil)
        #expect(try fault([.bool], "[1]") != nil)
    }

    @Test func leafShapesAcceptAndReject() throws {
        let cases: [(JSONShape, good: [String], bad: [String])] = [
            (.int, ["1", "-2.0", "1e400", "123456789012345678901234567890"], ["1.5", "\"1\""]),
            (.double, ["1", "1.5"], ["1e400", "\"1\""]),
            (.any, ["1", "null", "{}"], []),
            (.null, ["null"], ["0", "false"]),
            (.object, ["{}"], ["[]"]),
            (.array, ["[]", "[1]"], ["{}"]),
            ([], ["[]", "[1,null]"], ["{}", "1"]),
            (.range(1...5), ["1", "5", "2.0"], ["0", "6", "1.5", "\"3\""]),
            (.range(0..<5), ["0", "4"], ["5"]),
            (.range(0.5...1.5), ["0.5", "1"], ["0.4", "2"]),
            (.range(1...), ["1", "99", "18446744073709551616", "1e30"], ["0", "-1e30", "1e-400"]),
            (.range(...1), ["1", "-18446744073709551616"], ["2", "18446744073709551616"]),
            (.range(0.5...), ["1e400", "0.5"], ["-1e400", "true", "\"1\""]),
            (.range(...0.5), ["-1e400", "0.5", "1e-400"], ["1e400"]),
            (.range(0.5..<2.5), ["0.5"], ["2.5", "1e400"]),
            (.length(1...3), ["\"a\"", "\"äöü\""], ["\"\"", "\"abcd\"", "1"]),
            (.pattern("^a+$"), ["\"aaa\""], ["\"ab\"", "1"]),
            (.pattern("b"), ["\"abc\""], ["\"ac\""]),
            (.enumeration(["a", 1, nil]), ["\"a\"", "1.0", "null"], ["\"b\"", "2"]),
            (.oneOf([.string, .int]), ["\"a\"", "1"], ["1.5", "null"]),
            (.tuple([.string, .int]), ["[\"a\",1]"], ["[\"a\"]", "[1,\"a\"]", "[\"a\",1,2]"]),
            (.closed(["a": .int]), [#"{"a":1}"#, #"{"a":1,"a":2}"#], [#"{"a":1,"b":2}"#, "{}"]),
            (.closed(["a": .optional(.int)]), ["{}"], [#"{"b":2}"#]),
            (.dictionary(of: .int), ["{}", #"{"x":1,"y":2}"#], [#"{"x":1,"y":"2"}"#]),
            (.array(of: .int), ["[]", "[1]"], ["[\"\"]", "[null]"]),
            (.custom("a pair") { $0.count == 2 }, ["[1,2]"], ["[1]", "1"]),
        ]
        for (shape, good, bad) in cases {
            #expect(shape.problem == nil)
            for text in good { #expect(try fault(shape, text) == nil) }
            for text in bad { #expect(try fault(shape, text) != nil) }
        }
    }

    @Test func allFaultsAreReportedOnRequest() throws {
        let json = try JSON(parsing: #"{"total":1.5,"users":[{"id":"x","nick":1},{"nick":"a"},3]}"#)
        #expect(
            shape.faults(in: json).map(\.path) == [
                "$['total']", "$['users'][0]['id']", "$['users'][0]['nick']",
                "$['users'][1]['id']", "$['users'][2]",
            ])
        #expect(shape.faults(in: json, limit: 2).count == 2)
    }

    @Test func pathsAreNormalisedByRFC9535() throws {
        let path = shape(key: "it's \\ \n\u{1}").firstFault(in: ["it's \\ \n\u{1}": "x"])?.path
        #expect(path == #"$['it\'s \\ \n\u0001']"#)
    }

    @Test func pathsAreAvailableAsSteps() throws {
        let json = try JSON(parsing: #"{"total":1,"users":[{"id":1,"nick":"a"},{"id":"2"}]}"#)
        let faults = shape.faults(in: json)
        #expect(
            faults.map(\.steps) == [
                [.key("users"), .index(1), .key("id")], [.key("users"), .index(1), .key("nick")],
            ])
        #expect(shape.firstFault(in: [])?.steps == [])
        let closed = JSONShape.closed(["a": .int]).firstFault(in: ["b's": 1, "a": 1])
        #expect(closed?.steps == [.key("b's")])
        let made = JSONShape.Fault(
            steps: [.key("b's"), .index(3)], expected: "a number", found: "a string")
        #expect(made.path == #"$['b\'s'][3]"#)
    }

    @Test func allOfRequiresEachShape() throws {
        let shape = JSONShape.allOf([.length(2...), .pattern("b$"), .custom("no x") { $0 != "xb" }])
        #expect(try fault(shape, #""ab""#) == nil)
        #expect(
            try fault(shape, #""b""#) == "$: expected a string with a length from 2, found a string"
        )
        #expect(try fault(shape, #""ba""#) != nil)
        #expect(try fault(shape, #""xb""#) == "$: expected no x, found a string")
        let objects = JSONShape.allOf([["a": .int], ["b": [.string]]])
        #expect(
            try fault(objects, #"{"a":1,"b":["x",2]}"#)
                == "$['b'][1]: expected a string, found a number")
        #expect(JSONShape.allOf([]).problem != nil)
        #expect(JSONShape.allOf([.any, .pattern("(")]).problem != nil)
    }

    /// The time of a search can grow with the square of the text's length, which a server chooses.
    @Test(.timeLimit(.minutes(1))) func patternsDoNotMatchLongStrings() throws {
        func text(_ count: Int) -> String { "\"" + String(repeating: "<", count: count) + "\"" }
        #expect(try fault(.pattern("^<+$"), text(4096)) == nil)
        #expect(
            try fault(.pattern("^<+$"), text(4097))
                == "$: expected a string of at most 4096 bytes matching ^<+$, found a string")
        #expect(try fault(.pattern("<[^>]*>"), text(1_000_000)) != nil)
    }

    private func shape(key: String) -> JSONShape { JSONShape([(key, .int)]) }

    @Test func problemReportsErrorsInShapes() {
        #expect(shape.problem == nil)
        #expect((["a": [.pattern("(")]] as JSONShape).problem?.hasPrefix("$['a'][*]:") == true)
        let invalidShapes: [JSONShape] = [
            .enumeration([]), .range(1..<1), .oneOf([]), .closed(.int), .length(-5...(-1)),
            .nonNull(.null), ["a": .any, "a": .any],
        ]
        for shape in invalidShapes { #expect(shape.problem != nil) }
    }

    @Test func absentValuesAreRejected() {
        #expect(shape.firstFault(in: .absent)?.found == "nothing")
        #expect(JSONShape.any.firstFault(in: .absent) != nil)
        #expect(!shape.requiresBody)
        #expect(shape.requiringBody.requiresBody)
    }
}
