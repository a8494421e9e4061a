import Foundation
import Testing

@testable import ErrandHTTP

struct ArgumentsTests {
    private enum Order: String, ArgumentValue { case newest, oldest }

    private func json(_ arguments: Arguments) throws -> String {
        String(
            decoding: try ArgumentJSONWriter.bytes(of: arguments, encoding: .init()), as: UTF8.self)
    }

    @Test func literalsOfEveryKindCompile() throws {
        let username = "a"
        let password: String? = nil
        var arguments: Arguments? { ["username": username, "password": password] }
        #expect(try json(#require(arguments)) == #"{"username":"a","password":null}"#)

        let literal: Arguments = [
            "list": [1, 2], "nested": ["a": 1], "none": nil, "order": Order.newest,
            "deep": ["a": 1, "b": "x", "c": ["d": nil as Int?]] as Arguments,
            "mixed": [1, "two", nil, true] as ArgumentList, "dictionary": ["b": 2, "a": 1],
            "optionals": [1, nil, 3] as [Int?], "slice": "abc".dropFirst(),
            "character": "é" as Character,
        ]
        #expect(
            try json(literal)
                == #"{"list":[1,2],"nested":{"a":1},"none":null,"order":"newest","#
                + #""deep":{"a":1,"b":"x","c":{"d":null}},"mixed":[1,"two",null,true],"#
                + #""dictionary":{"a":1,"b":2},"optionals":[1,null,3],"slice":"bc","character":"é"}"#
        )
    }

    @Test func orderAndDuplicatesAreKept() {
        let arguments: Arguments = ["b": 1, "a": 2, "b": 3]
        #expect(arguments.names == ["b", "a", "b"])
        #expect(arguments.count == 3)
        #expect(Arguments(dictionary: ["b": 1, "a": "x", "c": nil]).names == ["a", "b", "c"])
        #expect(Arguments(pairs: [("b", 1), ("a", nil)]).names == ["b", "a"])
    }

    @Test func subscriptReplacesAndRemoves() {
        var arguments: Arguments = ["a": 1, "b": 2, "a": 3, "c": 4]
        #expect(arguments["a"]?.argumentNode == .integer(1))
        arguments["a"] = "x"
        #expect(arguments == ["a": "x", "b": 2, "c": 4])
        arguments["b"] = nil
        #expect(arguments == ["a": "x", "c": 4])
        arguments["c"] = Arguments.Node.null
        #expect(arguments == ["a": "x", "c": nil])
        arguments["d"] = 5
        arguments.append("d", 6)
        #expect(arguments.names == ["a", "c", "d", "d"])
        #expect(arguments["missing"] == nil)
    }

    @Test func sharedArgumentsAreOverriddenUnlessFixed() {
        let own: Arguments = ["page": 2, "lang": "de"]
        let shared: Arguments = ["lang": "en", "device": "x"]
        #expect(own.merging(shared: shared) == ["device": "x", "page": 2, "lang": "de"])
        #expect(
            own.merging(shared: shared, fixedNames: ["lang", "page"])
                == ["lang": "en", "device": "x", "page": 2])
        #expect(own.merging(shared: [:]) == own)
        #expect(Arguments().merging(shared: shared) == shared)
    }

    @Test func sortingIsByCodeUnitAndStable() {
        let arguments: Arguments = ["b": 1, "a": 1, "B": 1, "é": 1, "a": 2, "ab": 1]
        #expect(arguments.sorted() == ["B": 1, "a": 1, "a": 2, "ab": 1, "b": 1, "é": 1])
    }

    private struct Search: Encodable {
        struct Range: Encodable { var from = 1; var to: Int? }
        var text = "x"
        var range = Range()
        var when = Date(timeIntervalSince1970: 0)
        var bytes = Data([1, 2])
        var id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
        var link = URL(fileURLWithPath: "/a")
        var price = Decimal(string: "12345678901234567890.5")
        var map = ["z": 1, "y": 2, "x": 3]
        var set: Set<Int> = [3, 1, 2]
        var list = [[1], []]
        var float: Float = 0.1
        var big = UInt64.max
    }

    @Test func encodableValuesBecomeArguments() throws {
        #expect(
            try json(Arguments(Search()))
                == #"{"text":"x","range":{"from":1},"when":"1970-01-01T00:00:00Z","bytes":"AQI=","#
                + #""id":"00000000-0000-0000-0000-000000000001","link":"file:///a","#
                + #""price":12345678901234567890.5,"map":{"x":3,"y":2,"z":1},"set":[1,2,3],"#
                + #""list":[[1],[]],"float":0.1,"big":18446744073709551615}"#)
        #expect(Arguments(["b": 1, "a": 2]).names == ["a", "b"])
    }

    private class Animal: Encodable {
        var legs = 4
    }
    private final class Dog: Animal {
        enum Key: CodingKey { case name, tricks, more }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("Rex", forKey: .name)
            var tricks = container.nestedUnkeyedContainer(forKey: .tricks)
            try tricks.encode("sit")
            try tricks.encodeNil()
            var nested = tricks.nestedContainer(keyedBy: Key.self)
            try nested.encodeNil(forKey: .more)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func nestedContainersAndSuperclassesEncode() throws {
        #expect(
            try json(Arguments(Dog()))
                == #"{"name":"Rex","tricks":["sit",null,{"more":null}],"super":{"legs":4}}"#)
    }

    /// The error with which every writer refuses the arguments, also as a nested value.
    private func failure(of arguments: Arguments) throws -> RequestError? {
        #expect(!arguments.isEmpty)
        let encoding = ArgumentEncoding(custom: { "count=\($0.count)" })
        var merged = Arguments().merging(shared: ["a": 1])
        merged = merged.merging(shared: arguments)
        func addFields(_ arguments: Arguments) throws {
            var fields = MultipartFields(encoding: .init())
            try fields.add(arguments)
        }
        var codes: [RequestError.Code?] = []
        for arguments in [arguments, merged, ["x": arguments], ["x": ["y": [arguments]]]] {
            let errors: [RequestError?] = [
                #expect(throws: RequestError.self) { try json(arguments) },
                #expect(throws: RequestError.self) {
                    try FormWriter.bytes(of: arguments, encoding: .init())
                },
                #expect(throws: RequestError.self) {
                    try FormWriter.bytes(of: arguments, encoding: encoding)
                },
                #expect(throws: RequestError.self) {
                    try ArgumentPropertyListWriter(encoding: .init())
                        .data(of: arguments, format: .xml)
                },
                #expect(throws: RequestError.self) { try addFields(arguments) },
            ]
            codes += errors.map { $0?.code }
        }
        #expect(codes.allSatisfy { $0 == .invalidArguments })
        return arguments.failure?.error
    }

    @Test func listsAndSingleValuesAreRefusedWhenTheyAreWritten() throws {
        #expect(try failure(of: Arguments([1, 2]))?.message.contains("need names") == true)
        #expect(try failure(of: Arguments("x"))?.code == .invalidArguments)
    }

    private struct FailingValue: Encodable {
        struct Reason: Error {}
        func encode(to encoder: any Encoder) throws { throw Reason() }
    }

    @Test func encoderErrorIsTheUnderlyingError() throws {
        let error = try failure(of: Arguments(encoding: FailingValue()))
        #expect(error?.code == .invalidArguments)
        #expect(error?.underlying is FailingValue.Reason)
    }

    private final class Endless: Encodable {
        enum Key: CodingKey { case next }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(self, forKey: .next)
        }
    }

    @Test func endlessNestingIsRefused() throws {
        #expect(try failure(of: Arguments(Endless()))?.code == .invalidArguments)
    }
}
