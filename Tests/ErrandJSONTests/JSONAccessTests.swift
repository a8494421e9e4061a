import ErrandJSON
import Foundation
import Testing

@Suite struct JSONAccessTests {
    let json: JSON

    init() throws {
        json = try JSON(
            parsing: #"""
                {"users": [{"nick": "ann", "level": 3, "ok": true, "bio": null}, "x"],
                 "big": 123456789012345678901234567890, "real": -1.5e3, "whole": 20e-1,
                 "esc\u0061ped": "a\n\u00e9\ud83d\ude00", "empty": {}, "none": []}
                """#)
    }

    @Test func subscriptsFindValuesByKeyAndPosition() {
        #expect(json["users"][0]["nick"].string == "ann")
        #expect(json["users"][0]["level"].int == 3)
        #expect(json["users"][0]["ok"].bool == true)
        #expect(json["users"][1].string == "x")
        #expect(json["real"].double == -1500)
        #expect(json["escaped"].string == "a\né😀")
    }

    @Test func missingValuesAreAbsentAtEveryLevel() {
        let missing = json["missing"][7]["x"]
        #expect(!missing.exists)
        #expect(missing == .absent)
        #expect(missing.kind == .absent)
        #expect(missing.string == nil && missing.int == nil && missing.bool == nil)
        #expect(missing.double == nil && missing.array == nil && missing.object == nil)
        #expect(missing.count == 0 && !missing.isNull)
        #expect(!json["users"][-1].exists)
        #expect(!json["users"][2].exists)
        #expect(Array(missing).isEmpty)
    }

    @Test func nullExistsAndIsNull() {
        #expect(json["users"][0]["bio"].isNull)
        #expect(json["users"][0]["bio"].exists)
        #expect(json["users"][0]["bio"] == nil as JSON)
    }

    @Test func numbersKeepTheirText() {
        #expect(json["big"].number == "123456789012345678901234567890")
        #expect(json["big"].int == nil)
        #expect(json["big"].double == 1.2345678901234568e29)
        #expect(json["whole"].int == 2)
        #expect(json["real"].int == -1500)
        #expect(json["real"].uint64 == nil)
        #expect(json["users"].int == nil)
    }

    @Test func iterationIsInDocumentOrder() {
        #expect(
            json.object?.map(\.key)
                == ["users", "big", "real", "whole", "escaped", "empty", "none"])
        #expect(json["users"][0].map(\.kind) == [.string, .number, .bool, .null])
        #expect(json["users"].array?.count == 2)
        #expect(json["empty"].object?.isEmpty == true)
        #expect(json["none"].array == [])
        #expect(json.keys.count == json.count)
    }

    @Test func literalsEqualParsedText() throws {
        let literal: JSON = [
            "a": 1, "b": [1.5, "x\"y", true, nil], "c": ["d": -7], "e": [:], "f": [],
        ]
        let parsed = try JSON(
            parsing: #"{"c":{"d":-7},"a":1.0,"b":[15e-1,"x\u0022y",true,null],"e":{},"f":[]}"#)
        #expect(literal == parsed)
        #expect(
            literal.description
                == #"{"a":1,"b":[1.5,"x\"y",true,null],"c":{"d":-7},"e":{},"f":[]}"#)
    }

    @Test func equalityComparesValuesInsteadOfText() throws {
        let same = [("1", "1.0"), ("100", "1e2"), ("0", "-0.0"), (#""a""#, #""\u0061""#)]
        for (left, right) in same {
            #expect(try JSON(parsing: left) == JSON(parsing: right))
        }
        let different = [
            ("1", "2"), ("1", "true"), ("\"1\"", "1"), ("[1,2]", "[2,1]"), ("[]", "{}"),
            (#"{"a":1}"#, #"{"a":1,"b":2}"#), (#"{"a":1,"a":2}"#, #"{"a":2,"a":1}"#),
            ("9007199254740993", "9007199254740992"), ("null", "0"),
        ]
        for (left, right) in different {
            #expect(try JSON(parsing: left) != JSON(parsing: right))
        }
    }

    @Test func serializesPrettyAndSorted() throws {
        let json: JSON = ["b": [1, 2], "a": ["z": nil, "y": []]]
        let text = String(decoding: json.serialized(pretty: true, sortedKeys: true), as: UTF8.self)
        #expect(
            text == """
                {
                  "a": {
                    "y": [],
                    "z": null
                  },
                  "b": [
                    1,
                    2
                  ]
                }
                """)
        #expect(try JSON(parsing: text) == json)
    }

    @Test func convertsToAndFromFoundation() throws {
        let bridged = try JSON(foundation: json.foundationObject)
        #expect(bridged["users"] == json["users"])
        #expect(bridged["escaped"] == json["escaped"])
        let object: [String: Any] = ["a": [1, 2.5, true, NSNull(), "x"], "b": UInt64.max]
        #expect(
            try JSON(foundation: object).description
                == #"{"a":[1,2.5,true,null,"x"],"b":18446744073709551615}"#)
        #expect(throws: JSONError.self) { try JSON(foundation: ["a": Date()]) }
        #expect(throws: JSONError.self) { try JSON(foundation: [Double.nan]) }
    }
}
