import Foundation
import Testing

@testable import ErrandHTTP

/// Arguments encoded as JSON and property lists.
struct ArgumentBodyTests {
    private func json(
        _ arguments: Arguments, _ encoding: ArgumentEncoding = ArgumentEncoding()
    ) throws -> String {
        String(
            decoding: try ArgumentJSONWriter.bytes(of: arguments, encoding: encoding), as: UTF8.self
        )
    }

    @Test func stringsAreEscaped() throws {
        #expect(
            try json(["k\"": "\"\\/\u{8}\u{9}\n\u{C}\r\u{1}\u{1F}é👍\u{2028}"])
                == #"{"k\"":"\"\\/\b\t\n\f\r\u0001\u001fé👍"# + "\u{2028}\"}")
    }

    @Test func numbersAndDates() throws {
        let date = Date(timeIntervalSince1970: 1.5)
        let arguments: Arguments = [
            "a": 1.0, "b": 0.1, "c": Double.leastNonzeroMagnitude, "d": date, "e": Data([255]),
        ]
        #expect(
            try json(arguments)
                == #"{"a":1,"b":0.1,"c":5e-324,"d":"1970-01-01T00:00:01Z","e":"/w=="}"#)
        #expect(
            try json(["d": date], ArgumentEncoding(dates: .millisecondsSince1970)) == #"{"d":1500}"#
        )
        #expect(try json([:]) == "{}")
        #expect(try json(["a": [Int](), "b": Arguments()]) == #"{"a":[],"b":{}}"#)
    }

    @Test func jsonIsReadableByFoundation() throws {
        let bytes = Data(
            try ArgumentJSONWriter.bytes(
                of: ["a": Double.greatestFiniteMagnitude, "b": ["c": "\u{0}\u{7F}"]],
                encoding: .init()))
        let object = try #require(
            try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        #expect(object["a"] as? Double == Double.greatestFiniteMagnitude)
        #expect((object["b"] as? [String: String])?["c"] == "\u{0}\u{7F}")
    }

    @Test func infinityIsRejected() {
        let error = #expect(throws: RequestError.self) { try json(["ratio": [Double.infinity]]) }
        #expect(error?.code == .invalidArguments)
        #expect(error?.message.contains("\"ratio\"") == true)
    }

    @Test func keysAreSortedOnRequest() throws {
        let arguments: Arguments = ["b": ["d": 1, "c": 2] as Arguments, "a": 1]
        #expect(
            try json(arguments, ArgumentEncoding(sortsKeys: true)) == #"{"a":1,"b":{"c":2,"d":1}}"#)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func propertyListsRoundTrip(format: PropertyListSerialization.PropertyListFormat) throws {
        let writer = ArgumentPropertyListWriter(encoding: ArgumentEncoding())
        let date = Date(timeIntervalSince1970: 1_000_000)
        let data = try writer.data(
            of: [
                "text": "ü", "yes": true, "list": [1, 2], "date": date, "bytes": Data([1]),
                "half": 0.5,
                "nested": ["a": "b"],
            ], format: format == .xml ? .xml : .binary)
        var found = PropertyListSerialization.PropertyListFormat.openStep
        let object = try #require(
            try PropertyListSerialization.propertyList(from: data, format: &found)
                as? [String: Any])
        #expect(found == format)
        #expect(object["text"] as? String == "ü")
        #expect(object["yes"] as? Bool == true)
        #expect(object["list"] as? [Int] == [1, 2])
        #expect(object["date"] as? Date == date)
        #expect(object["bytes"] as? Data == Data([1]))
        #expect(object["half"] as? Double == 0.5)
        #expect(object["nested"] as? [String: String] == ["a": "b"])
    }

    @Test func propertyListsRejectNullsAndDuplicateKeys() throws {
        let writer = ArgumentPropertyListWriter(encoding: ArgumentEncoding())
        for arguments: Arguments in [["a": nil], ["a": 1, "a": 2]] {
            let error = #expect(throws: RequestError.self) {
                try writer.data(of: arguments, format: .xml)
            }
            #expect(error?.code == .invalidArguments)
        }
        let omitting = ArgumentPropertyListWriter(encoding: ArgumentEncoding(nulls: .omit))
        let data = try omitting.data(of: ["a": nil, "b": [nil, 1] as [Int?]], format: .xml)
        let object = try PropertyListSerialization.propertyList(from: data, format: nil)
        #expect(object as? [String: [Int]] == ["b": [1]])
    }
}
