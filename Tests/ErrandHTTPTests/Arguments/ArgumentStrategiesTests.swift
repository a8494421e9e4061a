import ErrandJSON
import Foundation
import Testing

@testable import ErrandHTTP

/// The strategies of a JSON encoder for `Arguments(encoding:encoder:)`.
struct ArgumentStrategiesTests {
    private struct Filter: Encodable {
        var createdAfter = Date(timeIntervalSince1970: 2)
        var rawBytes = Data([255])
        var byName = ["someKey": Inner()]
        var allItems = [Inner()]
        struct Inner: Encodable { var innerValue = 1.5 }
    }

    private func json(
        _ arguments: Arguments, _ encoding: ArgumentEncoding = ArgumentEncoding()
    ) throws -> String {
        String(
            decoding: try ArgumentJSONWriter.bytes(of: arguments, encoding: encoding), as: UTF8.self
        )
    }

    private let plain =
        #"{"createdAfter":"1970-01-01T00:00:02Z","rawBytes":"/w==","byName":{"someKey":"#
        + #"{"innerValue":1.5}},"allItems":[{"innerValue":1.5}]}"#
    private let converted =
        #"{"created_after":2000,"raw_bytes":"/w==","by_name":{"someKey":"#
        + #"{"inner_value":1.5}},"all_items":[{"inner_value":1.5}]}"#

    private var encoder: JSONWriter {
        var encoder = JSONWriter()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .millisecondsSince1970
        return encoder
    }

    @Test func strategiesApplyToEncodedValuesOnly() throws {
        let date = Date(timeIntervalSince1970: 2)
        var arguments = Arguments(encoding: Filter())
        #expect(try json(arguments) == plain)
        #expect(try json(arguments.applying(.requestDefault)) == plain)
        #expect(try json(arguments.applying(encoder)) == converted)
        arguments = ["myFilter": arguments, "someDate": date, "aList": [["aKey": date]]]
        #expect(
            try json(arguments.applying(encoder))
                == #"{"myFilter":\#(converted),"someDate":"1970-01-01T00:00:02Z","#
                + #""aList":[{"aKey":"1970-01-01T00:00:02Z"}]}"#)
    }

    @Test func strategiesApplyOnce() throws {
        var upper = JSONWriter()
        upper.keyEncodingStrategy = .custom { path in
            Key(stringValue: (path.last?.stringValue ?? "") + "X")
        }
        let once = try Arguments(encoding: Filter.Inner()).applying(upper)
        #expect(try once.applying(upper).names == ["innerValueX"])
        #expect(
            try Arguments(encoding: Filter.Inner(), encoder: upper).applying(encoder).names
                == ["innerValueX"])
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test func argumentEncodingDecidesWhereTheEncoderHasDefaults() throws {
        let arguments = Arguments(encoding: Filter.Inner(innerValue: 1))
            .merging(["when": Date(timeIntervalSince1970: 1)])
        let encoding = ArgumentEncoding(dates: .secondsSince1970)
        #expect(
            try json(arguments.applying(.requestDefault), encoding) == #"{"innerValue":1,"when":1}"#
        )
        let explicit = Arguments(encoding: Filter(), encoder: .requestDefault)
        #expect(try json(explicit, encoding) == plain)
    }

    @Test func floatsAndFailuresOfStrategies() throws {
        struct Ratio: Encodable { var ratio = -Double.infinity }
        var encoder = JSONWriter.requestDefault
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "?")
        #expect(try json(Arguments(encoding: Ratio()).applying(encoder)) == #"{"ratio":"-"}"#)
        struct Refused: Error {}
        encoder.dateEncodingStrategy = .custom { _, _ in throw Refused() }
        let error = #expect(throws: RequestError.self) {
            try Arguments(encoding: Filter()).applying(encoder)
        }
        #expect(error?.code == .invalidArguments && error?.underlying is Refused)
        #expect(error?.message.contains("\"createdAfter\"") == true)
        #expect(Arguments(encoding: Filter(), encoder: encoder).failure != nil)
    }
}

/// `ArgumentEncoding.DuplicateNames`.
struct DuplicateNamesTests {
    private func query(
        _ own: String?, _ arguments: String, _ rule: ArgumentEncoding.DuplicateNames
    ) throws -> String? {
        var url = try HTTPURL(parsing: "http://h/")
        url.query = own
        let text = try rule.resolve(arguments, beside: own ?? "")
        if rule == .replace { url.removeQuery(namesOf: text) }
        url.appendQuery(text)
        return url.query
    }

    @Test func eachRule() throws {
        let own = "a=1&b%5B%5D=1&c"
        let arguments = "a=2&b%5B%5D=2&b%5B%5D=3&d=4"
        #expect(try query(own, arguments, .append) == own + "&" + arguments)
        #expect(try query(own, arguments, .keepFirst) == "a=1&b%5B%5D=1&c&d=4")
        #expect(try query(own, arguments, .replace) == "c&" + arguments)
        #expect(try query("c=1", arguments, .refuse) == "c=1&" + arguments)
        let error = #expect(throws: RequestError.self) { try query(own, "d=1&a=secret", .refuse) }
        #expect(error?.code == .invalidArguments)
        #expect(error?.message.contains("\"a\"") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func namesAreComparedDecoded() throws {
        #expect(try query("a+b=1&%61=2", "a%20b=3&a=4", .keepFirst) == "a+b=1&%61=2")
        #expect(try query("a+b=1&%61=2&x", "a%20b=3&a=4", .replace) == "x&a%20b=3&a=4")
        #expect(try query("A=1", "a=2", .refuse) == "A=1&a=2")
        #expect(try query(nil, "a=2&a=3", .refuse) == "a=2&a=3")
        #expect(try query("a=1", "", .replace) == "a=1")
        #expect(try query("a=1", "a=2", .replace) == "a=2")
    }
}
