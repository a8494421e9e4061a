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

    @Test func referencesLeadToDefinitionsAndBack() throws {
        let tree = ##"""
            {"$ref":"#/$defs/node","$defs":{"node":{"type":"object","required":["value"],"properties":
            {"value":{"type":"integer"},"next":{"$ref":"#/$defs/node"},
            "children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}
            """##
        try expect(
            tree,
            accepts: [
                #"{"value":1}"#, #"{"value":1,"next":{"value":2,"children":[{"value":3}]}}"#,
            ],
            rejects: [
                "null", "1", #"{"value":1,"next":null}"#, #"{"value":1,"next":{}}"#,
                #"{"value":1,"children":[{"value":1,"children":[null]}]}"#,
            ])
        let json = try JSON(parsing: #"{"value":1,"children":[{"value":1,"next":{"value":"x"}}]}"#)
        #expect(
            try shape(tree).firstFault(in: json)?.description
                == "$['children'][0]['next']['value']: expected an integer, found a string")
        // The whole schema, escapes in a pointer, a position, and keywords beside a reference.
        try expect(
            ##"{"type":"object","properties":{"inner":{"$ref":"#"}},"minProperties":1}"##,
            accepts: [#"{"inner":{"a":1}}"#], rejects: [#"{"inner":{}}"#])
        try expect(
            ##"{"$ref":"#/$defs/a~1b%25/0","maxLength":2,"$defs":{"a/b%":[{"type":"string"}]}}"##,
            accepts: [#""ab""#], rejects: [#""abc""#, "1"])
        try expect(
            ##"{"anyOf":[{"$ref":"#/$defs/n"},{"type":"integer"}],"$defs":{"n":{"type":"null"}}}"##,
            accepts: ["null", "1"], rejects: [#""a""#])
    }

    @Test func referencesLeadIntoADocument() throws {
        let document = SchemaDocument(
            try JSON(
                parsing:
                    #"{"components":{"schemas":{"Pet":{"type":"object","properties":{"name":{"type":"string"}}}}}}"#
            ))
        let shape = try JSONShape(
            jsonSchema: ["type": "array", "items": ["$ref": "#/components/schemas/Pet"]],
            in: document)
        #expect(shape.matches([["name": "Rex"]]))
        #expect(!shape.matches([["name": 1]]))
        // The second shape uses the schemas of the first, and outlives the constant.
        let pet = try JSONShape(jsonSchema: ["$ref": "#/components/schemas/Pet"], in: document)
        #expect(pet.matches(["name": "Rex"]))
        #expect(!pet.matches(["name": 1]))
    }

    @Test func problemsOfADocumentAreThoseThatAShapeLeadsTo() throws {
        let document = SchemaDocument(
            try JSON(
                parsing: ##"""
                    {"good":{"type":"integer"},"bad":{"type":"none"},"user":{"items":{"$ref":"#/bad"}},
                    "circle":{"allOf":[{"$ref":"#/circle"}]},"never":{"type":"string","minLength":2,"maxLength":1}}
                    """##))
        func problems(_ name: String) throws -> [String] {
            do throws(JSONShape.SchemaError) {
                _ = try JSONShape(
                    jsonSchema: ["$ref": .init(stringLiteral: "#/\(name)")], in: document)
                return []
            } catch {
                return error.problems.map(\.path)
            }
        }
        // Each twice: the second shape finds schemas that were read, with their problems.
        for _ in 1...2 {
            #expect(try problems("good").isEmpty)
            #expect(try problems("user") == ["$['bad']['type']"])
            #expect(try problems("bad") == ["$['bad']['type']"])
            #expect(try problems("circle") == ["$['circle']"])
            #expect(try problems("never") == ["$['never']['minLength']"])
        }
    }

    @Test func discriminatorChoosesTheVariant() throws {
        let schema = ##"""
            {"oneOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}],
            "discriminator":{"propertyName":"kind","mapping":{"cat":"#/$defs/Cat"}},
            "$defs":{"Cat":{"type":"object","properties":{"lives":{"type":"integer"}}},
            "Dog":{"type":"object","properties":{"lives":{"type":"string"}}}}}
            """##
        // Without the discriminator, the first value would match both schemas.
        try expect(
            schema,
            accepts: [
                #"{"kind":"cat"}"#, #"{"kind":"cat","lives":9}"#, #"{"kind":"Dog","lives":"one"}"#,
            ],
            rejects: [
                #"{"kind":"cat","lives":"nine"}"#, #"{"kind":"cow"}"#, #"{"kind":1}"#, "null",
            ])
        let fault = try shape(schema).firstFault(in: ["kind": "cat", "lives": "nine"])
        #expect(fault?.description == "$['lives']: expected an integer, found a string")
        let unknown = try shape(schema).firstFault(in: ["kind": "cow"])
        #expect(unknown?.description == "$['kind']: expected one of Dog, cat, found a string")
    }

    @Test func negationMultiplesAndUniqueItems() throws {
        try expect(#"{"not":{"type":"string"}}"#, accepts: ["1", "null"], rejects: [#""a""#])
        try expect(#"{"not":{"type":"null"}}"#, accepts: ["1"], rejects: ["null"])
        try expect(
            #"{"type":"integer","multipleOf":3}"#, accepts: ["0", "9", "-3"],
            rejects: ["4", "null"])
        try expect(
            #"{"type":"number","multipleOf":0.01}"#, accepts: ["0.07", "19.99", "4"],
            rejects: ["0.075", "0.001"])
        try expect(
            #"{"type":"array","uniqueItems":true}"#,
            accepts: ["[]", #"[1,"1",true,null]"#, #"[{"a":1},{"a":2}]"#, "[[1],[1,2]]"],
            rejects: ["[1,1]", "[1,1.0]", #"[{"a":1,"b":2},{"b":2,"a":1}]"#, "[[[1]],[[1]]]"])
    }

    @Test func positionsOfItems() throws {
        let schema =
            #"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"#
            + #""items":{"type":"boolean"}}"#
        try expect(
            schema, accepts: ["[]", #"["a"]"#, #"["a",1,true,false]"#],
            rejects: ["[1]", #"["a","b"]"#, #"["a",1,2]"#, "[null]"])
        let fault = try shape(schema).firstFault(in: ["a", 1, true, 2])
        #expect(fault?.description == "$[3]: expected a Bool, found a number")
        try expect(
            #"{"prefixItems":[{"type":"string"}],"items":false}"#, accepts: [#"["a"]"#, "1"],
            rejects: [#"["a",1]"#])
    }

    @Test func patternsOfKeysAndAdditionalMembers() throws {
        let schema =
            #"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"#
            + #""patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}"#
        try expect(
            schema, accepts: [#"{"id":1}"#, #"{"id":1,"x-a":"b"}"#],
            rejects: ["{}", #"{"id":1,"x-a":1}"#, #"{"id":1,"y":1}"#, #"{"id":"1"}"#])
        let fault = try shape(schema).firstFault(in: ["id": 1, "x-a": 1])
        #expect(fault?.description == "$['x-a']: expected a string, found a number")
        try expect(
            #"{"properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}}"#,
            accepts: [#"{"a":1,"b":"c"}"#, "{}"], rejects: [#"{"a":1,"b":2}"#, #"{"a":"c"}"#])
        try expect(
            #"{"type":"object","minProperties":1,"maxProperties":2}"#, accepts: [#"{"a":1}"#],
            rejects: ["{}", #"{"a":1,"b":1,"c":1}"#])
    }

    @Test(arguments: [
        ("date", ["2024-02-29"], ["2023-02-29", "2024-13-01", "2024-1-1", "x"]),
        (
            "date-time", ["2024-01-01T00:00:00Z", "2024-01-01T23:59:60.123+01:30"],
            ["2024-01-01", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00", "2024-01-01T00:00:00.Z"]
        ),
        ("time", ["10:00:00Z"], ["10:00Z", "10:00:00"]),
        (
            "uuid", ["123e4567-e89b-12d3-a456-426614174000"],
            ["123e4567e89b12d3a456426614174000", "g23e4567-e89b-12d3-a456-426614174000"]
        ),
        ("ipv4", ["127.0.0.1"], ["127.0.0", "256.0.0.1", "01.0.0.1", "1.2.3.4.5"]),
        (
            "ipv6", ["::1", "2001:db8::", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"],
            ["1:2:3", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9", ""]
        ),
        ("unknown", ["anything"], []),
    ])
    func formatsOfText(format: String, good: [String], bad: [String]) throws {
        let shape = try shape("{\"type\":\"string\",\"format\":\"\(format)\"}")
        for text in good { #expect(shape.matches(JSON(text)), "\(text)") }
        for text in bad { #expect(!shape.matches(JSON(text)), "\(text)") }
    }

    @Test func formatsOfIntegers() throws {
        try expect(
            #"{"type":"integer","format":"int32"}"#, accepts: ["2147483647", "-2147483648"],
            rejects: ["2147483648"])
        try expect(
            #"{"type":"integer","format":"int64"}"#, accepts: ["9223372036854775807"],
            rejects: ["9223372036854775808"])
    }

    @Test func exclusiveBoundsOfOpenAPI30AreBooleans() throws {
        try expect(
            #"{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":2,"exclusiveMaximum":false}"#,
            accepts: ["1.1", "2"], rejects: ["1", "2.1"])
        try expect(
            #"{"type":"integer","minimum":1,"exclusiveMinimum":true}"#, accepts: ["2"],
            rejects: ["1"])
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
                #"{"type":"object","if":{},"properties":{"a":{"multipleOf":0,"type":"integer"},"#
                    + ##""b":{"$ref":"#/$defs/x"}},"anyOf":[{"contains":{}}]}"##)
                == [
                    "$['if']", "$['properties']['a']['multipleOf']", "$['properties']['b']['$ref']",
                    "$['anyOf'][0]['contains']",
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
        (#"{"additionalProperties":1}"#, "$['additionalProperties']"),
        (#"{"patternProperties":{"(":{}}}"#, "$['patternProperties']['(']"),
        (#"{"prefixItems":{}}"#, "$['prefixItems']"), (#"{"multipleOf":-1}"#, "$['multipleOf']"),
        (#"{"$ref":"other.json#/a"}"#, "$['$ref']"), (##"{"$ref":"#/none"}"##, "$['$ref']"),
        (##"{"$ref":"#"}"##, "$"),
        (
            ##"{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}"##,
            "$['$defs']['a']"
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
