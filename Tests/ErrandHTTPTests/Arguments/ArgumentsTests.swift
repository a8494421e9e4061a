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
        arguments["c"] = ArgumentNode.null
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
        #expect(try Arguments(["b": 1, "a": 2]).names == ["a", "b"])
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

    @Test func listsAndSingleValuesAreRejected() {
        for make in [{ try Arguments([1, 2]) }, { try Arguments("x") }] {
            let error = #expect(throws: RequestError.self) { _ = try make() }
            #expect(error?.code == .invalidArguments)
        }
    }

    private struct FailingValue: Encodable {
        struct Reason: Error {}
        func encode(to encoder: any Encoder) throws { throw Reason() }
    }

    @Test func encoderErrorIsTheUnderlyingError() {
        let error = #expect(throws: RequestError.self) { try Arguments(FailingValue()) }
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

    @Test func endlessNestingIsRejected() {
        let error = #expect(throws: RequestError.self) { try Arguments(Endless()) }
        #expect(error?.code == .invalidArguments)
    }
}
