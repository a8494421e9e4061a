import ErrandJSON
import Testing

/// `JSONShape(jsonSchema:)`: the supported subset, and the error for the rest.
@Suite struct JSONSchemaTests {
    private func shape(_ schema: String) throws -> JSONShape {
        try JSONShape(jsonSchema: JSON(parsing: schema))
    }

    private func problems(_ schema: String) throws -> [String] {
        let error = #expect(throws: JSONShape.SchemaError.self) { try shape(schema) }
        return error?.problems.map(\.path) ?? []
    }

    private func expect(
        _ schema: String, accepts good: [String], rejects bad: [String],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let shape = try shape(schema)
        // The position of a value must not matter, as it does for hand-written shapes.
        let wrapped: JSONShape = ["v": shape]
        let listed: JSONShape = [shape]
        for text in good {
            let json = try JSON(parsing: text)
            #expect(shape.firstFault(in: json) == nil, "\(text)", sourceLocation: location)
            #expect(wrapped.matches(["v": json]), "\(text)", sourceLocation: location)
            #expect(listed.matches([json]), "\(text)", sourceLocation: location)
        }
        for text in bad {
            let json = try JSON(parsing: text)
            #expect(shape.firstFault(in: json) != nil, "\(text)", sourceLocation: location)
            #expect(!wrapped.matches(["v": json]), "\(text)", sourceLocation: location)
            #expect(!listed.matches([json]), "\(text)", sourceLocation: location)
        }
    }

    @Test func typesAreCheckedExactly() throws {
        try expect(#"{"type":"string"}"#, accepts: [#""a""#], rejects: ["1", "null", "[]"])
        try expect(
            #"{"type":"integer"}"#, accepts: ["1", "1.0"], rejects: ["1.5", "true", "null"])
        try expect(
            #"{"type":"number"}"#, accepts: ["1", "1.5", "1e400"], rejects: ["true", "null"])
        try expect(#"{"type":"boolean"}"#, accepts: ["true"], rejects: ["1", "null"])
        try expect(#"{"type":"null"}"#, accepts: ["null"], rejects: ["0", "{}"])
        try expect(#"{"type":"array"}"#, accepts: ["[1]"], rejects: ["{}", "null"])
        try expect(#"{"type":"object"}"#, accepts: ["{}"], rejects: ["[]", "null"])
        try expect(
            #"{"type":["string","null"]}"#, accepts: [#""a""#, "null"], rejects: ["1", "[]"])
        try expect(
            #"{"type":"string","nullable":true}"#, accepts: [#""a""#, "null"], rejects: ["1"])
        try expect("{}", accepts: ["1", "null", "{}"], rejects: [])
        try expect("true", accepts: ["1", "null"], rejects: [])
        try expect("false", accepts: [], rejects: ["1", "null", "{}"])
    }

    @Test func keywordsOfATypeAcceptValuesOfOtherTypes() throws {
        try expect(
            #"{"minLength":2}"#, accepts: [#""ab""#, "1", "null", "{}"], rejects: [#""a""#])
        try expect(
            #"{"minimum":2}"#, accepts: ["2", "2.5", #""a""#, "true"], rejects: ["1", "1.5"])
        try expect(#"{"required":["a"]}"#, accepts: [#"{"a":null}"#, "1"], rejects: ["{}"])
        try expect(
            #"{"properties":{"a":{"type":"integer"},"b":{}},"required":["a"]}"#,
            accepts: [#"{"a":1}"#, #"{"b":2,"a":1}"#], rejects: ["{}", #"{"b":1}"#])
    }

    @Test func boundsAndLengths() throws {
        try expect(
            #"{"type":"integer","minimum":1.5,"exclusiveMaximum":4}"#, accepts: ["2", "3.0"],
            rejects: ["1", "4", "2.5"])
        try expect(
            #"{"type":"integer","exclusiveMinimum":1,"maximum":4}"#, accepts: ["2", "4"],
            rejects: ["1", "5"])
        try expect(
            #"{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}"#,
            accepts: ["0.5", "1e-9"], rejects: ["0", "1", "-1"])
        try expect(
            #"{"type":"string","minLength":1,"maxLength":2}"#, accepts: [#""é""#, #""👍👍""#],
            rejects: [#""""#, #""abc""#])
        try expect(
            #"{"type":"string","pattern":"^a","maxLength":2}"#, accepts: [#""a""#, #""ab""#],
            rejects: [#""b""#, #""abc""#])
        try expect(
            #"{"type":"array","minItems":1,"maxItems":2,"items":{"type":"integer"}}"#,
            accepts: ["[1]", "[1,2]"], rejects: ["[]", "[1,2,3]", "[null]", #"["a"]"#])
    }

    @Test func objects() throws {
        let schema = #"""
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "User",
             "type": "object", "required": ["id", "any"],
             "properties": {"id": {"type": "integer"}, "nick": {"type": "string"},
                            "tags": {"type": "array", "items": {"type": "string"}}}}
            """#
        try expect(
            schema,
            accepts: [
                #"{"id":1,"any":null}"#, #"{"any":0,"id":1,"nick":"a","tags":[],"more":1}"#,
            ],
            rejects: [
                "{}", #"{"id":1}"#, #"{"id":null,"any":1}"#, #"{"id":1,"any":1,"nick":null}"#,
                #"{"id":1,"any":1,"tags":[null]}"#,
            ])
        try expect(
            #"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#,
            accepts: ["{}", #"{"a":null}"#], rejects: [#"{"b":1}"#])
        try expect(
            #"{"type":"object","additionalProperties":{"type":"integer"},"required":["a"]}"#,
            accepts: [#"{"a":1,"b":2}"#], rejects: [#"{"b":1}"#, #"{"a":null}"#, #"{"a":"x"}"#])
    }

    @Test func valuesAndCombinations() throws {
        try expect(
            #"{"enum":["a",1,null]}"#, accepts: [#""a""#, "1", "null"], rejects: [#""b""#, "[]"])
        try expect(#"{"const":{"a":1}}"#, accepts: [#"{"a":1}"#], rejects: ["{}", "null"])
        try expect(
            #"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#, accepts: [#""a""#, "1"],
            rejects: ["null", "1.5"])
        try expect(
            #"{"oneOf":[{"type":"number"},{"type":"integer"},{"type":"null"}]}"#,
            accepts: ["1.5", "null"], rejects: ["1", #""a""#])
        try expect(
            #"{"allOf":[{"type":"string","minLength":2},{"pattern":"b$"}]}"#, accepts: [#""ab""#],
            rejects: [#""b""#, #""ba""#, "null"])
        try expect(
            #"{"type":["string","null"],"anyOf":[{"maxLength":1},{"const":"long"}]}"#,
            accepts: [#""a""#, #""long""#, "null"], rejects: [#""ab""#])
    }

    @Test func faultsNameThePathAndTheExpectedValue() throws {
        let shape = try shape(
            #"{"type":"object","properties":{"users":{"type":"array","items":{"#
                + #""type":"object","required":["id"],"properties":{"id":{"type":"integer","minimum":1}}}}}}"#
        )
        let json = try JSON(parsing: #"{"users":[{"id":1},{"id":0}]}"#)
        let fault = try #require(shape.firstFault(in: json))
        #expect(
            fault.description == "$['users'][1]['id']: expected an integer from 1, found a number")
        #expect(fault.steps == [.key("users"), .index(1), .key("id")])
    }

    @Test func everyUnsupportedKeywordIsNamed() throws {
        #expect(
            try problems(
                #"{"type":"object","if":{},"properties":{"a":{"multipleOf":2,"type":"integer"},"#
                    + ##""b":{"$ref":"#/$defs/x"}},"anyOf":[{"not":{}}]}"##)
                == [
                    "$['if']", "$['properties']['a']['multipleOf']", "$['properties']['b']['$ref']",
                    "$['anyOf'][0]['not']",
                ])
    }

    @Test(arguments: [
        (#"{"type":"text"}"#, "$['type']"), (#"{"type":[]}"#, "$['type']"),
        (#"{"enum":[]}"#, "$['enum']"), (#"{"minimum":"1"}"#, "$['minimum']"),
        (#"{"exclusiveMinimum":true}"#, "$['exclusiveMinimum']"),
        (#"{"minLength":-1}"#, "$['minLength']"), (#"{"pattern":"("}"#, "$['pattern']"),
        (#"{"required":[1]}"#, "$['required']"), (#"{"properties":[]}"#, "$['properties']"),
        (#"{"items":[{}]}"#, "$['items']"), (#"{"anyOf":{}}"#, "$['anyOf']"),
        (#"{"minItems":3,"maxItems":2}"#, "$['minItems']"), ("[]", "$"), ("1", "$"),
        (
            #"{"properties":{"a":{}},"additionalProperties":{"type":"string"}}"#,
            "$['additionalProperties']"
        ),
        (#"{"type":"integer","minimum":2,"maximum":1}"#, "$"),
    ])
    func invalidKeywordIsReportedWithItsPath(schema: String, path: String) throws {
        #expect(try problems(schema).contains(path))
    }

    @Test func schemaNestedTooDeeplyIsReported() throws {
        let schema =
            String(repeating: #"{"items":"#, count: 200) + "{}" + String(repeating: "}", count: 200)
        #expect(try problems(schema).count == 1)
    }
}
