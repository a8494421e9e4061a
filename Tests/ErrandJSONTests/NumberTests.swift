import TestSupport
import Testing

@testable import ErrandJSON

@Suite struct NumberTests {
    private func double(_ text: String) -> Double? { (try? JSON(parsing: text))?.double }

    @Test func doublesRoundTrip() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<200_000 {
            let value = Double(bitPattern: random.next())
            guard value.isFinite else { continue }
            let text = value.description
            if double(text)?.bitPattern != value.bitPattern { Issue.record("\(text)") }
        }
    }

    @Test func numbersOfAnyLengthMatchTheStandardLibrary() {
        var generator = DocumentGenerator(seed: 13)
        for _ in 0..<100_000 {
            var text = generator.number()
            if generator.random.chance(3), !text.lowercased().contains("e") {
                text += "e\(generator.random.below(700) - 350)"
            }
            let expected = Double(text).flatMap { $0.isFinite ? $0 : nil }
            if double(text)?.bitPattern != expected?.bitPattern { Issue.record("\(text)") }
            let float = Float(text).flatMap { $0.isFinite ? $0 : nil }
            var copy = text
            let own = copy.withUTF8 { NumberText.float($0) }
            if own?.bitPattern != float?.bitPattern { Issue.record("Float \(text)") }
        }
    }

    @Test func doubleBoundaryValuesMatchTheStandardLibrary() {
        let texts = [
            "0", "-0", "-0.0", "0e5", "5e-324", "2.4703282292062327e-324",
            "2.4703282292062329e-324",
            "2.2250738585072014e-308", "2.2250738585072011e-308", "1.7976931348623157e308",
            "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740993.0",
            "9007199254740994", "0.1", "0.30000000000000004", "1e22", "1e23", "8.5e22", "1e-22",
            "18446744073709551615", "18446744073709551616", "123456789012345678901234567890",
            "4.35", "1.00000000000000011102230246251565404236316680908203125",
            "1.00000000000000011102230246251565404236316680908203124",
            "1.00000000000000011102230246251565404236316680908203126", "1e308", "1e-400",
            "0.000000000000000000000000000000000000000000001", "100000000000000000000000e-23",
            "6250000000000000000000000000000000e-33",
        ]
        for text in texts {
            #expect(double(text)?.bitPattern == Double(text)?.bitPattern, "\(text)")
        }
        #expect(double("1e309") == nil && double("-1.8e308") == nil)
        #expect(double("1e99999999999999999999") == nil)
        #expect(double("1e-99999999999999999999") == 0)
        #expect(double("0e99999999999999999999") == 0)
    }

    @Test func integersAreExactOrNil() throws {
        func int(_ text: String) throws -> Int? { try JSON(parsing: text).int }
        #expect(try int("9223372036854775807") == .max)
        #expect(try int("9223372036854775808") == nil)
        #expect(try int("-9223372036854775808") == .min)
        #expect(try int("-9223372036854775809") == nil)
        #expect(try int("9007199254740993.0") == 9_007_199_254_740_993)
        #expect(try int("1e18") == 1_000_000_000_000_000_000)
        #expect(try int("1e19") == nil)
        #expect(try int("1200e-2") == 12)
        #expect(try int("1201e-2") == nil)
        #expect(try int("-0") == 0)
        #expect(try int("0.0e999") == 0)
        #expect(try int("0.5") == nil)
        #expect(try JSON(parsing: "18446744073709551615").uint64 == .max)
        #expect(try JSON(parsing: "18446744073709551616").uint64 == nil)
        #expect(try JSON(parsing: "-1").uint64 == nil)
        #expect(try JSON(parsing: "-0").uint64 == 0)
        #expect(try JSON(parsing: "255").integer(UInt8.self) == 255)
        #expect(try JSON(parsing: "256").integer(UInt8.self) == nil)
        #expect(try JSON(parsing: "-129").integer(Int8.self) == nil)
        let large = "170141183460469231731687303715884105727"
        #expect(try JSON(parsing: large).integer(Int128.self) == .max)
    }

    @Test func numbersWithHundredsOfDigitsKeepTheirText() throws {
        let digits = "9" + String(repeating: "0123456789", count: 40)
        let json = try JSON(parsing: "[\(digits), -\(digits), 0.\(digits)]")
        #expect(json[0].number == digits)
        #expect(json[0].int == nil && json[0].double == nil)
        #expect(json[1].number == "-" + digits)
        #expect(json[2].double == Double("0." + digits))
        #expect(json.description == "[\(digits),-\(digits),0.\(digits)]")
        #expect(JSONShape.int.matches(json[0]))
        #expect(!JSONShape.double.matches(json[0]))
    }

    @Test func powersOfFiveTableIsCorrect() {
        #expect(PowersOfFive.words.count == 2 * (308 + 342 + 1))
        // Computes 5^q for q >= 0 in exact arithmetic with 32-bit limbs.
        for exponent in stride(from: 0, through: 308, by: 1) {
            var limbs: [UInt32] = [1]
            for _ in 0..<exponent { multiply(&limbs, by: 5) }
            #expect(leadingBits(limbs) == row(exponent), "5^\(exponent)")
        }
    }

    private func row(_ exponent: Int) -> [UInt64] {
        let index = (exponent - PowersOfFive.smallest) * 2
        return [PowersOfFive.words[index], PowersOfFive.words[index + 1]]
    }

    private func multiply(_ limbs: inout [UInt32], by factor: UInt32) {
        var carry: UInt64 = 0
        for index in limbs.indices {
            let product = UInt64(limbs[index]) * UInt64(factor) + carry
            limbs[index] = UInt32(truncatingIfNeeded: product)
            carry = product >> 32
        }
        if carry > 0 { limbs.append(UInt32(carry)) }
    }

    private func leadingBits(_ limbs: [UInt32]) -> [UInt64] {
        var bits = limbs.reversed().flatMap { limb in
            (0..<32).reversed().map { limb >> UInt32($0) & 1 }
        }
        bits = Array(bits.drop { $0 == 0 }.prefix(128))
        bits += Array(repeating: 0, count: 128 - bits.count)
        return [bits[..<64], bits[64...]].map { $0.reduce(0) { $0 << 1 | UInt64($1) } }
    }
}
