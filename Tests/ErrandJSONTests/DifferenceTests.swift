import ErrandJSON
import Foundation
import Testing

/// Tests for every documented difference from `JSONDecoder` and `JSONEncoder`.
///
/// If a test fails because Foundation has changed, update the list in the documentation.
@Suite struct DifferenceTests {
    private struct Point: Codable, Equatable {
        var x: Int
        var y: Int
    }

    @Test func encodingsOtherThanUTF8AreRejected() throws {
        let data = try #require("[1]".data(using: .utf16))
        #expect(try JSONDecoder().decode([Int].self, from: data) == [1])
        #expect(throws: DecodingError.self) { try JSONReader().decode([Int].self, from: data) }
    }

    @Test func stringsThatAreNotDecodedMustBeValid() throws {
        let data = Data(#"{"x":1,"y":2,"other":"\ud800"}"#.utf8)
        #expect(try JSONDecoder().decode(Point.self, from: data) == Point(x: 1, y: 2))
        #expect(throws: DecodingError.self) { try JSONReader().decode(Point.self, from: data) }
    }

    @Test func numbersTooSmallForDoubleAreZero() throws {
        let data = Data("1e-400".utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Double.self, from: data) }
        #expect(try JSONReader().decode(Double.self, from: data) == 0)
    }

    @Test func wideIntegersMayHaveAnExponent() throws {
        let data = Data("1e38".utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Int128.self, from: data) }
        let expected = Int128("100000000000000000000000000000000000000")
        #expect(try JSONReader().decode(Int128.self, from: data) == expected)
    }

    @Test func errorsForNumbersOutOfRangeHaveAPath() throws {
        let data = Data(#"{"x":1,"y":1.5}"#.utf8)
        func path(_ error: DecodingError?) -> [String]? {
            guard case .dataCorrupted(let context) = error else { return nil }
            return context.codingPath.map(\.stringValue)
        }
        let foundation = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Point.self, from: data)
        }
        let own = #expect(throws: DecodingError.self) {
            try JSONReader().decode(Point.self, from: data)
        }
        #expect(path(foundation) == [])
        #expect(path(own) == ["y"])
    }

    @Test func errorsForInvalidDatesHaveAPath() throws {
        let data = Data(#"[0,"2024-02-29"]"#.utf8)
        func path(_ error: DecodingError?) -> [Int?]? {
            guard case .dataCorrupted(let context) = error else { return nil }
            return context.codingPath.map(\.intValue)
        }
        struct Dated: Decodable {
            init(from decoder: any Decoder) throws {
                var items = try decoder.unkeyedContainer()
                _ = try items.decode(Int.self)
                _ = try items.decode(Date.self)
            }
        }
        let foundation = JSONDecoder()
        foundation.dateDecodingStrategy = .iso8601
        var decoder = JSONReader()
        decoder.dateDecodingStrategy = .iso8601
        let expected = #expect(throws: DecodingError.self) {
            try foundation.decode(Dated.self, from: data)
        }
        let own = #expect(throws: DecodingError.self) { try decoder.decode(Dated.self, from: data) }
        #expect(path(expected) == [])
        #expect(path(own) == [1])
    }

    @Test func decimalNaNIsRejected() throws {
        let decimals = [Decimal.nan]
        #expect(try JSONEncoder().encode(decimals) == Data("[NaN]".utf8))
        #expect(throws: EncodingError.self) { try JSONWriter().encode(decimals) }
        #expect(throws: JSONError.self) { try JSON(foundation: decimals) }
    }

    @Test func trailingCommaIsRejected() throws {
        for text in ["[1,]", "[1 , ]"] {
            #expect(try JSONDecoder().decode([Int].self, from: Data(text.utf8)) == [1])
            #expect(throws: DecodingError.self) {
                try JSONReader().decode([Int].self, from: Data(text.utf8))
            }
        }
        let object = Data(#"{"x":1,"y":2,}"#.utf8)
        #expect(try JSONDecoder().decode(Point.self, from: object) == Point(x: 1, y: 2))
        #expect(throws: DecodingError.self) {
            try JSONReader().decode(Point.self, from: object)
        }
    }

    @Test func membersAreEncodedInTheirOrder() throws {
        struct Many: Encodable {
            var z = 1
            var a = 2
            var m = 3
        }
        #expect(try JSONWriter().encodeBytes(Many()) == Array(#"{"z":1,"a":2,"m":3}"#.utf8))
    }

    @Test func writingToAContainerAfterItsValueHasEndedFails() throws {
        final class ContainerHolder { var container: (any UnkeyedEncodingContainer)? }
        struct Retaining: Encodable {
            let holder: ContainerHolder
            func encode(to encoder: any Encoder) throws {
                holder.container = encoder.unkeyedContainer()
            }
        }
        struct Both: Encodable {
            let holder: ContainerHolder
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(Retaining(holder: holder))
                try holder.container?.encode(1)
            }
        }
        #expect(throws: EncodingError.self) {
            try JSONWriter().encode(Both(holder: ContainerHolder()))
        }
    }
}
