import ErrandJSON
import Foundation
import Testing

/// Shapes derived from types, compared with the results of decoding them.
struct DerivedShapeTests {
    private enum Role: String, Codable, CaseIterable { case admin, guest }
    private enum Level: Int, Codable, CaseIterable { case low = 1, high = 5 }
    /// An enum that maps unknown values to `.other`.
    private enum Loose: String, Decodable, CaseIterable {
        case known, other
        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            self = Loose(rawValue: text) ?? .other
        }
    }
    private struct Address: Decodable { var street: String }
    private struct User: Decodable {
        var id: Int
        var nick: String
        var score: Double
        var isActive: Bool
        var small: UInt8
        var bio: String?
        var role: Role
        var level: Level?
        var loose: Loose
        var tags: [String]
        var maybe: [Int?]
        var addresses: [String: Address]
        var home: Address?
        var site: URL
        var key: UUID
        var data: Data
        var born: Date
    }
    private final class Tree: Decodable {
        var name: String
        var children: [Tree]
        var parent: Tree?
    }

    private static let user = """
        {"id":1,"nick":"a","score":1.5,"isActive":true,"small":255,"bio":null,"role":"guest","level":5,\
        "loose":"unknown","tags":["x"],"maybe":[1,null],"addresses":{"home":{"street":"s"}},"site":"http://h/",\
        "key":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F","data":"AQI=","born":12.5,"unknown":[]}
        """

    @Test func decodableDocumentsMatchTheShape() throws {
        let shape = try JSONShape(of: User.self)
        let json = try JSON(parsing: Self.user)
        #expect(shape.firstFault(in: json) == nil)
        #expect(shape.problem == nil)
        _ = try JSONReader().decode(User.self, from: json)
    }

    @Test(arguments: [
        ("\"id\":1", "\"id\":1.5", "$['id']"), ("\"id\":1,", "", "$['id']"),
        ("\"nick\":\"a\"", "\"nick\":null", "$['nick']"),
        ("\"isActive\":true", "\"isActive\":1", "$['isActive']"),
        ("\"small\":255", "\"small\":256", "$['small']"),
        ("\"guest\"", "\"root\"", "$['role']"), ("\"level\":5", "\"level\":2", "$['level']"),
        ("[\"x\"]", "[null]", "$['tags'][0]"), ("[1,null]", "[\"1\"]", "$['maybe'][0]"),
        ("{\"street\":\"s\"}", "{}", "$['addresses']['home']['street']"),
        ("{\"home\":{\"street\":\"s\"}}", "{\"home\":null}", "$['addresses']['home']"),
        ("\"born\":12.5", "\"born\":\"2026\"", "$['born']"),
        ("E621E1F8-C", "E621E1F8C", "$['key']"),
    ])
    func documentsThatFailToDecodeDoNotMatchTheShape(
        part: String, other: String, path: String
    ) throws {
        let text = Self.user.replacingOccurrences(of: part, with: other)
        try #require(text != Self.user)
        let json = try JSON(parsing: text)
        #expect(throws: (any Error).self) { try JSONReader().decode(User.self, from: json) }
        let fault = try JSONShape(of: User.self).firstFault(in: json)
        #expect(fault?.path == path)
    }

    @Test func decoderStrategiesDetermineTheShape() throws {
        struct Event: Decodable { var startsAt: Date; var hostID: Int? }
        struct Plain: Decodable { var startsAt: Date }
        var decoder = JSONReader()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let shape = try JSONShape(of: Plain.self, decoder: decoder)
        #expect(shape.matches(["starts_at": "2026-01-31T00:00:00Z"]))
        #expect(!shape.matches(["starts_at": 7]))
        // No converted key becomes `hostID` under this strategy except `hostID` itself.
        let event = try JSONShape(of: Event.self, decoder: decoder)
        #expect(event.matches(["starts_at": "x", "hostID": 1]))
        decoder.keyDecodingStrategy = .custom { $0[0] }
        #expect(throws: JSONShapeDerivationError.self) {
            try JSONShape(of: Plain.self, decoder: decoder)
        }
    }

    @Test func recursiveTypesHaveAFiniteShape() throws {
        let shape = try JSONShape(of: Tree.self)
        #expect(shape.matches(["name": "a", "children": [["name": "b", "children": []]]]))
        #expect(!shape.matches(["name": "a", "children": nil]))
        #expect(!shape.matches(["name": 1, "children": []]))
    }

    @Test func topLevelValuesOfEveryKind() throws {
        #expect(try JSONShape(of: [Int].self).matches([1, 2]))
        #expect(try !JSONShape(of: [Int].self).matches([1, nil]))
        #expect(try JSONShape(of: Int?.self).matches(nil))
        #expect(try JSONShape(of: [String: [Bool]].self).matches(["a": [true]]))
        #expect(try !JSONShape(of: [String: [Bool]].self).matches(["a": nil]))
        #expect(try JSONShape(of: String.self).matches("a"))
    }

    @Test func typesWithoutADerivableShapeReportThePath() throws {
        struct Email: Decodable {
            init(from decoder: any Decoder) throws {
                let text = try decoder.singleValueContainer().decode(String.self)
                guard text.contains("@") else {
                    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
                }
            }
        }
        enum Choice: Decodable { case one(Int), two }
        struct Person: Decodable { var mails: [Email] }
        struct Chooser: Decodable { var choice: Choice }
        var error = #expect(throws: JSONShapeDerivationError.self) {
            try JSONShape(of: Person.self)
        }
        #expect(error?.path == "$.mails[]")
        error = #expect(throws: JSONShapeDerivationError.self) { try JSONShape(of: Chooser.self) }
        #expect(error?.path == "$.choice")
    }

    @Test func nullsAreRemovedAtEveryLevel() throws {
        let json = try JSON(
            parsing: #"{"a":null,"b":[1,null,{"c":null,"d":"\u00e9"}],"e":{},"f":2.50}"#)
        #expect("\(json.removingNulls)" == #"{"b":[1,{"d":"é"}],"e":{},"f":2.50}"#)
        #expect(JSON.null.removingNulls.isNull)
        // Validation uses the first of repeated keys, so a later one must not replace a null.
        let repeated = try JSON(parsing: #"{"role":null,"role":"admin","a":1,"a":2}"#)
        #expect("\(repeated.removingNulls)" == #"{"a":1}"#)
        var deep = JSON(["x", nil] as [JSON])
        for _ in 0..<3000 { deep = JSON([deep]) }
        #expect(deep.removingNulls.count == 1)
    }

    @Test func doubleShapeRejectsNumbersBeyondTheRange() throws {
        let digits = { (count: Int) in String(repeating: "9", count: count) }
        for (text, isDouble) in [
            ("0", true), ("-1.5", true), ("1e308", true), ("1E+400", false), ("-1e309", false),
            (digits(300), true), (digits(308), true), (digits(400), false), ("1e-400", true),
            ("true", false), ("\"1\"", false),
        ] {
            #expect(JSONShape.double.matches(try JSON(parsing: text)) == isDouble, "\(text)")
        }
    }
}
