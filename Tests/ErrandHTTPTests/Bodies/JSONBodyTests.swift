import ErrandCore
import ErrandJSON
import Foundation
import Synchronization
import Testing

@testable import ErrandHTTP

/// `HTTPBody.json(_:encoder:)`: values are encoded once, when the request is built.
struct JSONBodyTests {
    private struct Note: Encodable {
        var userName = "a/b"
        var createdAt = Date(timeIntervalSince1970: 1.5)
        var rawBytes = Data([1, 2])
        var someRatio = 0.5
        var byKey = ["zKey": 1, "aKey": 2]
        var numberSet: Set<Int> = [3, 1, 2]
        var nestedNotes: [Nested] = [Nested()]

        struct Nested: Encodable {
            var innerDate: Date? = Date(timeIntervalSince1970: 0)
            var nothing: Int?
        }
    }

    /// The same as a type that is not `Sendable`.
    private final class SharedNote: Encodable {
        var note = Note()
        func encode(to encoder: any Encoder) throws { try note.encode(to: encoder) }
    }

    private func text(
        _ body: HTTPBody, _ encoder: JSONWriter = .requestDefault
    ) throws -> String? {
        guard case .data(let data) = try body.encoded(by: encoder).storage else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    @Test func defaultsAreISODatesAndSortedDictionaries() throws {
        let expected =
            #"{"userName":"a/b","createdAt":"1970-01-01T00:00:01Z","rawBytes":"AQI=","someRatio":0.5,"#
            + #""byKey":{"aKey":2,"zKey":1},"numberSet":[1,2,3],"#
            + #""nestedNotes":[{"innerDate":"1970-01-01T00:00:00Z"}]}"#
        #expect(try text(.json(Note())) == expected)
        #expect(try text(.json(SharedNote())) == expected)
        #expect(try text(.json([1, 2])) == "[1,2]")
        #expect(try text(.json("x")) == #""x""#)
        #expect(HTTPBody.json(Note()).contentType == "application/json")
    }

    @Test func strategiesApplyToEveryType() throws {
        var encoder = JSONWriter()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.dataEncodingStrategy = .custom { data, encoder in
            var container = encoder.singleValueContainer()
            try container.encode("\(data.count) bytes")
        }
        let expected =
            #"{"user_name":"a\/b","created_at":1500,"raw_bytes":"2 bytes","some_ratio":0.5,"#
            + #""by_key":{"aKey":2,"zKey":1},"number_set":[1,2,3],"nested_notes":[{"inner_date":0}]}"#
        #expect(try text(.json(Note()), encoder) == expected)
        #expect(try text(.json(SharedNote()), encoder) == expected)
        encoder.keyEncodingStrategy = .custom { path in
            AnyKey(path.map(\.stringValue).joined(separator: "-"))
        }
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        #expect(try text(.json(Note()), encoder) == text(.json(SharedNote()), encoder))
        #expect(try text(.json(SharedNote()), encoder)?.contains("Index 0-innerDate") == true)
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private struct Ratio: Encodable { var ratio = Double.infinity }
    private final class SharedRatio: Encodable { var ratio = Double.infinity }

    @Test func floatStrategyApplies() throws {
        for body in [HTTPBody.json(Ratio()), .json(SharedRatio())] {
            let error = #expect(throws: RequestError.self) { try text(body) }
            #expect(error?.code == .invalidBody && error?.stage == .build)
            #expect(error?.underlying != nil)
            var encoder = JSONWriter()
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "+", negativeInfinity: "-", nan: "?")
            #expect(try text(body, encoder) == #"{"ratio":"+"}"#)
        }
        let error = #expect(throws: RequestError.self) { try text(.json([Ratio()])) }
        #expect(error?.message.contains("at $[0].ratio") == true)
    }

    @Test func encoderOfTheBodyTakesPrecedence() throws {
        var own = JSONWriter()
        own.dateEncodingStrategy = .secondsSince1970
        var endpoints = JSONWriter()
        endpoints.dateEncodingStrategy = .millisecondsSince1970
        let date = [Date(timeIntervalSince1970: 1)]
        final class Box: Encodable {
            let date = [Date(timeIntervalSince1970: 1)]
            func encode(to encoder: any Encoder) throws { try date.encode(to: encoder) }
        }
        #expect(try text(.json(date, encoder: own), endpoints) == "[1]")
        #expect(try text(.json(Box(), encoder: own), endpoints) == "[1]")
        #expect(try text(.json(date), endpoints) == "[1000]")
        #expect(try text(.json(Box()), endpoints) == "[1000]")
    }

    private struct Counted: Encodable {
        static let count = Atomic(0)
        func encode(to encoder: any Encoder) throws {
            Self.count.add(1, ordering: .relaxed)
            var container = encoder.singleValueContainer()
            try container.encode(1)
        }
    }

    @Test func valueIsEncodedWhenItIsNeeded() throws {
        let body = HTTPBody.json(Counted())
        #expect(body.needsEncoding && body.isInMemory && body.knownLength == nil)
        #expect(Counted.count.load(ordering: .relaxed) == 0)
        let encoded = try body.encoded(by: .requestDefault)
        #expect(!encoded.needsEncoding && encoded.knownLength == 1)
        _ = try encoded.encoded(by: .requestDefault)
        #expect(Counted.count.load(ordering: .relaxed) == 1)
    }

    @Test func partsAreEncodedAsWell() throws {
        var encoder = JSONWriter()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let inner = MultipartBody([.json("inner", ["a": 1]), .json("shared", SharedNote())])
        let body = HTTPBody.multipart(
            MultipartBody([
                .json("note", Note()), .text("t", "x"),
                .init(name: "m", body: .multipart(inner)),
            ]))
        #expect(body.needsEncoding)
        let parts = try #require(try body.encoded(by: encoder).multipart?.parts)
        #expect(try text(parts[0].body)?.hasPrefix(#"{"user_name""#) == true)
        #expect(!parts[2].body.needsEncoding)
        #expect(try text(parts[2].body.multipart?.parts[0].body ?? parts[1].body) == #"{"a":1}"#)
        #expect(!HTTPBody.multipart(MultipartBody([.text("t", "x")])).needsEncoding)
    }

    @Test func rulesOfArgumentsApplyOnRequest() throws {
        let body = HTTPBody.json(
            Note.Nested(), encoding: ArgumentEncoding(dates: .secondsSince1970))
        #expect(try text(body) == #"{"innerDate":0}"#)
        let failing = HTTPBody.json(Ratio(), encoding: ArgumentEncoding())
        guard case .invalid(let error) = failing.storage else {
            Issue.record("The body has no error.")
            return
        }
        #expect(error.code == .invalidBody)
    }

    private final class Endless: Encodable {
        enum Key: CodingKey { case next }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(self, forKey: .next)
        }
    }

    @Test func endlessNestingIsRefused() {
        guard case .invalid(let error) = HTTPBody.json(Endless()).storage else {
            Issue.record("The body has no error.")
            return
        }
        #expect(error.code == .invalidBody)
    }

    @Test func savedRequestAndCurlCommandHaveTheBytes() throws {
        let request = CustomRequest(url: "http://h/", method: .post, headers: [], body: .json([1]))
        let saved = try JSONDecoder().decode(
            CustomRequest.self, from: JSONEncoder().encode(request))
        #expect(saved.body?.knownLength == 3)
        let transported = TransportRequest(
            method: .post, url: try HTTPURL(parsing: "http://h/"), body: .json([1]))
        #expect(transported.curlCommand(redactsSecrets: false).contains("'[1]'"))
    }
}
