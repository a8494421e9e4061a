import ErrandJSON
import Foundation
import Testing

/// Conversion to and from Foundation types gives the same results as `JSONSerialization`.
@Suite struct FoundationBridgeTests {
    /// A text form that includes the types of numbers, so that 1, 1.0 and true differ.
    private func typedText(_ object: Any) -> String {
        switch object {
        case let dictionary as [String: Any]:
            let members = dictionary.sorted { $0.key < $1.key }
            return "{" + members.map { "\($0.key):\(typedText($0.value))" }.joined(separator: ",")
                + "}"
        case let array as [Any]: return "[" + array.map(typedText).joined(separator: ",") + "]"
        case let string as String: return "\"\(string)\""
        case is NSNull: return "null"
        case let number as NSDecimalNumber: return "decimal \(number)"
        case let number as NSNumber:
            return String(cString: number.objCType) + " \(number)"
        default: return "\(type(of: object))"
        }
    }

    private func compare(_ text: String) throws {
        let data = Data(text.utf8)
        let expected = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        let own = try JSON(parsing: data).foundationObject
        #expect(typedText(own) == typedText(expected), "\(text)")
    }

    @Test(arguments: [
        "1", "1.0", "-0", "-0.0", "1e2", "true", "18446744073709551615", "18446744073709551616",
        "9223372036854775808", "-9223372036854775809", "1.5e300", "0.1", "-1", "1E-400",
        "12345678901234567890123", "100000000000000000000.0", "0.10000000000000000555",
        "-1234567890.12345678", "-123456789.12345678", "-123456789.1234567", "-123456789.123456",
        "12345678901234567e1", "123456789012345678e1", "1234567890123456.5e-3",
        "0.00000000000000000001", "1e19", "1e25",
        "123456789012345678901234567890e100", "4.9e-324",
    ])
    func numbersHaveTheTypesOfJSONSerialization(text: String) throws {
        try compare(text)
        try compare("{\"a\":[\(text)]}")
    }

    @Test func generatedDocumentsMatchJSONSerialization() throws {
        var generator = DocumentGenerator(seed: 41)
        for _ in 0..<2000 {
            try compare(generator.document(depth: 3))
        }
    }

    /// Decoders use the first value instead, see `RepeatedKeyTests`.
    @Test(arguments: [
        #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":null,"b":3}"#, #"{"":[1],"":{"x":1,"x":[]},"":"z"}"#,
        #"[{"caf\u00e9":1,"cafe\u0301":2}]"#,
    ])
    func lastValueOfARepeatedKeyIsUsed(text: String) throws {
        try compare(text)
    }

    @Test func supportedTypesConvertToTheSameText() throws {
        let objects: [Any] = [
            true, false, NSNumber(value: true), NSNumber(value: 1), NSNumber(value: Int8(1)),
            NSNumber(value: Int8(5)), NSNumber(value: UInt8(1)), NSNumber(value: UInt64.max),
            NSNumber(value: -0.0), Float(0.1), NSNumber(value: Float(0.1)), 1.0, 1e21, Int64.min,
            Int16(-3), NSDecimalNumber(string: "1.10"), NSString("x"), NSNull(), [Any](),
            [String: Any](), [nil, 1] as [Any?], ["a": nil, "b": 1] as [String: Any?],
            ["a": Int?.none as Any], ["a": Int?.some(3) as Any],
            NSMutableDictionary(dictionary: ["k": NSArray(array: [1, NSNull()])]),
        ]
        for object in objects {
            let data = try JSONSerialization.data(
                withJSONObject: object, options: [.fragmentsAllowed, .sortedKeys])
            let own = try JSON(foundation: object).data(sortedKeys: true)
            #expect(String(decoding: own, as: UTF8.self) == String(decoding: data, as: UTF8.self))
        }
    }

    @Test func unsupportedTypesAreRejected() {
        let objects: [Any] = [
            Date(), Data(), Double.nan, Double.infinity, [1: "a"], Set([1]), NSObject(),
            NSNumber(value: Double.infinity), NSDecimalNumber.notANumber, ["a": [Date()]],
        ]
        for object in objects {
            #expect(!JSONSerialization.isValidJSONObject([object]))
            #expect(throws: JSONError.self) { try JSON(foundation: object) }
        }
    }
}
