import ErrandJSON
import Foundation
import Testing

/// Less common types: the results must match Foundation's coders.
@Suite struct CodableTypesTests {
    // MARK: - Comparing

    /// Compares both encoders, then both decoders with the encoded text.
    private func compare<T: Codable & Equatable>(
        _ value: T, _ setUp: (inout CoderPair) -> Void = { _ in }
    ) {
        var coders = CoderPair()
        setUp(&coders)
        coders.compareEncoding(value)
        guard let data = try? coders.foundationEncoder.encode(value) else { return }
        coders.compareDecoding(T.self, String(decoding: data, as: UTF8.self))
    }

    /// Compares both decoders with texts, most of them invalid.
    private func compare<T: Decodable & Equatable>(
        _ type: T.Type, texts: [String], _ setUp: (inout CoderPair) -> Void = { _ in }
    ) {
        var coders = CoderPair()
        setUp(&coders)
        for text in texts { coders.compareDecoding(type, text) }
    }

    // MARK: - Classes

    private class Animal: Codable, Equatable {
        var name: String
        init(name: String) { self.name = name }
        func equals(_ other: Animal) -> Bool { name == other.name }
        static func == (left: Animal, right: Animal) -> Bool { left.equals(right) }
    }

    private final class Dog: Animal {
        var tricks: [String]
        var owner: Animal?

        private enum Keys: String, CodingKey { case tricks, owner }

        init(name: String, tricks: [String], owner: Animal?) {
            self.tricks = tricks
            self.owner = owner
            super.init(name: name)
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            tricks = try container.decode([String].self, forKey: .tricks)
            owner = try container.decodeIfPresent(Animal.self, forKey: .owner)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(tricks, forKey: .tricks)
            try container.encodeIfPresent(owner, forKey: .owner)
            try super.encode(to: container.superEncoder())
        }

        override func equals(_ other: Animal) -> Bool {
            guard let other = other as? Dog else { return false }
            return name == other.name && tricks == other.tricks && owner == other.owner
        }
    }

    /// A subclass that passes its own coder to the superclass, so that both share one object.
    private final class Cat: Animal {
        var lives: Int
        private enum Keys: CodingKey { case lives }

        init(name: String, lives: Int) {
            self.lives = lives
            super.init(name: name)
        }

        required init(from decoder: any Decoder) throws {
            lives = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .lives)
            try super.init(from: decoder)
        }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(lives, forKey: .lives)
        }
    }

    @Test func subclassesWithSuperCoders() {
        let dog = Dog(name: "Rex", tricks: ["sit", ""], owner: Animal(name: "Ann"))
        compare(dog)
        compare([dog, Dog(name: "", tricks: [], owner: nil), dog])
        compare(["a": dog])
        compare([Cat(name: "Tom", lives: 9), Cat(name: "Kit", lives: 7)])
        compare(
            Dog.self,
            texts: [
                #"{"tricks":[]}"#, #"{"tricks":[],"super":null}"#, #"{"tricks":[],"super":{}}"#,
                #"{"tricks":[],"super":{"name":1}}"#, #"{"tricks":[],"super":[1]}"#,
                #"{"tricks":[],"owner":{},"super":{"name":""}}"#, "null", "[]",
            ])
        compare(Cat.self, texts: [#"{"lives":1}"#, #"{"name":"x"}"#, #"{"lives":"","name":1}"#])
    }

    /// Codes an `Animal` with a super coder in an array.
    private struct Listed: Codable, Equatable {
        var animal: Animal

        init(_ animal: Animal) { self.animal = animal }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            _ = try list.decode(Int.self)
            animal = try Animal(from: list.superDecoder())
        }

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            try list.encode(1)
            try animal.encode(to: list.superEncoder())
        }
    }

    @Test func superCodersInArrays() {
        compare([Listed(Animal(name: "a")), Listed(Animal(name: "b"))])
        compare(Listed.self, texts: ["[]", "[1]", "[1,null]", #"[1,{"name":2}]"#, "[1,[]]"])
    }

    // MARK: - Numbers

    private struct Numbers: Codable, Equatable {
        var half: [Float16] = [0, -0.5, 65504, 6e-8]
        var pair = SIMD2<Double>(1.5, -2)
        var quad = SIMD4<Int32>(1, -2, .max, .min)
        var wide = SIMD8<UInt8>(repeating: 7)
        var triple = SIMD3<Float>(0.1, 0, -1e10)
        var big: [Int128] = [.max, .min, 0, -1]
        var huge: [UInt128] = [.max, 0]
        var decimals = [Decimal(string: "0.1"), Decimal(string: "-12345678901234567890.123"), nil]
    }

    @Test func numericTypesOfEveryWidth() {
        compare(Numbers())
        compare([Numbers()])
        compare(Int128.max)
        compare(UInt128.max)
        compare(Int128?.none)
        compare(Float16(1.5))
        compare(SIMD2<Double>(.nan, 1))
        let texts = [
            "1", "-1", "1.0", "1.5", "1e3", "70000", "65504", "65520", "1e-9", "null", "\"1\"",
            "170141183460469231731687303715884105727", "170141183460469231731687303715884105728",
            "-170141183460469231731687303715884105728", "340282366920938463463374607431768211455",
            "340282366920938463463374607431768211456", "[]", "true", "1e40", "-0", "0.5",
        ]
        compare(Int128.self, texts: texts)
        compare(UInt128.self, texts: texts)
        compare(Float16.self, texts: texts)
        compare(Decimal.self, texts: texts)
        compare(Int16.self, texts: texts)
        compare(UInt32.self, texts: texts)
        compare(
            SIMD2<Double>.self,
            texts: ["[1,2]", "[1]", "[1,2,3]", "[]", "[1,null]", #"[1,"2"]"#, "{}", "null"])
    }

    // MARK: - Dictionaries

    private enum Colour: String, Codable, CodingKeyRepresentable, CaseIterable { case red, green }
    private enum Level: Int, Codable, CodingKeyRepresentable { case low = 1, high = 20 }
    private enum Plain: String, Codable { case one, two }

    private struct Name: Hashable, Codable, CodingKeyRepresentable {
        var text: String
        init(_ text: String) { self.text = text }
        init?(codingKey: some CodingKey) { text = codingKey.stringValue }
        var codingKey: any CodingKey { Key(stringValue: text) }

        private struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
    }

    @Test func dictionariesWithVariousKeyTypes() {
        compare([Colour.red: 1, .green: 2])
        compare([Level.low: "a", .high: "b"])
        compare([Plain.two: 1])
        compare([Name("fooBar"): [1], Name("b"): []])
        compare([1: "a", -5: "b", 300: "c"])
        compare([Int8(1): 1])
        compare([UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"): 1])
        compare(["a": [Colour.red: [Level.high: ["x": 1]]]])
        compare([Double(1.5): "a"])
        let texts = [
            #"{"red":1}"#, #"{"blue":1}"#, #"{"red":"x"}"#, #"{"20":2}"#, #"{"2":1}"#,
            #"["red",1]"#, #"["red"]"#, #"["one",1,"two",2]"#, #"["one",1,"two"]"#, "{}", "[]",
            #"{"a":[1]}"#, #"{"1.5":1}"#, #"{"9223372036854775808":1}"#, "null", "3",
        ]
        compare([Colour: Int].self, texts: texts)
        compare([Level: Int].self, texts: texts)
        compare([Plain: Int].self, texts: texts)
        compare([Name: [Int]].self, texts: texts)
        compare([Int: Int].self, texts: texts)
        compare([Int8: Int].self, texts: texts)
    }

    @Test func dictionaryKeysWithAKeyStrategy() {
        let converts: (inout CoderPair) -> Void = { $0.convertSnakeCase() }
        compare(["someKey": ["innerKey": 1]], converts)
        compare([Name("someName"): 1], converts)
        compare([Colour.red: ["fooBar": 2]], converts)
        compare([7: "x"], converts)
        compare([["aB": 1]], converts)
        compare([String: [String: Int]].self, texts: [#"{"a_b":{"c_d":1}}"#], converts)
        compare([Name: Int].self, texts: [#"{"a_b":1}"#], converts)
        compare([[String: Int]].self, texts: [#"[{"a_b":1}]"#], converts)
        compare([String: Int]?.self, texts: [#"{"a_b":1}"#, "null"], converts)
    }

    // MARK: - Enumerations and optionals

    private indirect enum Expression: Codable, Equatable {
        case number(Double)
        case sum(Expression, Expression)
        case named(name: String, _ value: Expression?)
        case nothing
    }

    @Test func enumsWithAssociatedValues() {
        let sum = Expression.sum(.number(1), .named(name: "x", .sum(.nothing, .number(-0.5))))
        compare(sum)
        compare([sum, .nothing, .named(name: "", nil)])
        compare(["k": sum])
        compare(
            Expression.self,
            texts: [
                #"{"number":{"_0":1}}"#, #"{"number":{}}"#, #"{"number":1}"#, #"{"nothing":{}}"#,
                #"{"nothing":null}"#, #"{"sum":{"_0":{"nothing":{}}}}"#, #"{}"#, #""nothing""#,
                #"{"named":{"name":"a","_1":null}}"#, #"{"named":{"name":null}}"#,
                #"{"number":{"_0":1},"nothing":{}}"#, #"{"other":{}}"#, "[]", "null",
            ])
    }

    private struct Deep: Codable, Equatable {
        var a: Int??
        var b: [Int??]
        var c: [String: String??]
        var d: [[Int?]?]?
        var e: Expression??
    }

    @Test func nestedOptionals() {
        compare(Deep(a: nil, b: [], c: [:], d: nil, e: nil))
        compare(
            Deep(a: 1, b: [1, nil, .some(nil)], c: ["x": nil], d: [nil, [nil, 1]], e: .nothing))
        compare(Deep(a: .some(nil), b: [.some(nil)], c: ["x": .some(nil)], d: [], e: .some(nil)))
        compare(
            Deep.self,
            texts: [
                #"{"b":[null],"c":{"x":null}}"#, #"{"a":null,"b":[],"c":{}}"#,
                #"{"a":"x","b":[],"c":{}}"#, #"{"b":["x"],"c":{}}"#, #"{"b":[],"c":{"x":1}}"#,
                #"{"b":[],"c":{},"d":[[null],null,["x"]]}"#, #"{"b":[],"c":{},"e":1}"#,
            ])
        compare(Int??.none)
        compare(Int??.some(nil))
        compare([Int??.some(nil), 1])
    }

    // MARK: - Foundation's types

    private struct FoundationTypes: Codable, Equatable {
        var url = URL(string: "https://example.com/a b?c=d", relativeTo: nil)
        var relative = URL(string: "x/y", relativeTo: URL(string: "https://example.com/z/"))
        var id = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        var date = Date(timeIntervalSince1970: 1_700_000_000.25)
        var data = Data([1, 2, 255])
        var decimal = Decimal(string: "3.1415926535897932384626433832795028841")
        var range = 1..<5
        var closed = 1.5...2.5
        var locale = Locale(identifier: "de_DE")
        var zone = TimeZone(identifier: "Europe/Berlin")
        var components = DateComponents(year: 2024, month: 2)
        var indexes = IndexSet([1, 2, 5])
        var path = IndexPath(indexes: [1, 2])
        var characters = CharacterSet(charactersIn: "abc")
        var interval = DateInterval(start: Date(timeIntervalSince1970: 0), duration: 5)
        var measurement = Measurement(value: 1.5, unit: UnitLength.meters)
        var person = PersonNameComponents(givenName: "Ann", familyName: "Lee")
        var pieces = URLComponents(string: "https://example.com:8080/a?b#c")
        var array: ContiguousArray<Int> = [1, 2]
        var set: Set<Int> = [4]
        var seconds = Duration.milliseconds(1500)
    }

    @Test func foundationTypes() {
        compare(FoundationTypes())
        compare([FoundationTypes(), FoundationTypes()])
        for text in ["\"\"", "\"a b\"", "\"https://[\"", "1", "null", "{}", "\"é\""] {
            compare(URL.self, texts: [text])
            compare([URL?].self, texts: ["[\(text)]"])
            compare(UUID.self, texts: [text])
            compare(Decimal.self, texts: [text])
            compare(Data.self, texts: [text])
            compare(Range<Int>.self, texts: [text, "[1,2]", "[2,1]", "[1]", "[1,2,3]"])
        }
    }

    @Test func datesWithEveryStrategy() {
        for strategy: CoderPair.Dates in [.deferred, .seconds, .milliseconds, .iso8601] {
            let setUp: (inout CoderPair) -> Void = { $0.use(strategy) }
            for seconds in [0, -1, 1e9, 1_234_567_890.123, -62_135_596_800, 253_402_300_799] {
                compare(Date(timeIntervalSince1970: seconds), setUp)
                compare(["a": [Date(timeIntervalSince1970: seconds)]], setUp)
            }
            let texts = [
                "0", "1.5", "-1e3", "\"2024-02-29T12:00:00Z\"", "\"2024-02-30T12:00:00Z\"",
                "\"2024-02-29T12:00:00+02:00\"", "\"2024-02-29T12:00:00.123Z\"", "\"\"", "null",
                "\"2024-02-29\"", "\"2024-02-29T12:00:00\"", "\"2024-2-9T12:00:00Z\"", "{}",
                "\"2024-02-29T24:00:00Z\"", "\"2024-02-29T12:00:00Zx\"", "\"20240229T120000Z\"",
                "\"2024-02-29T12:00:60Z\"", "\" 2024-02-29T12:00:00Z\"", "1e400", "true",
            ]
            compare(Date.self, texts: texts, setUp)
            compare([Date?].self, texts: texts.map { "[\($0)]" }, setUp)
        }
    }

    @Test func dataWithEveryStrategy() {
        for isBase64 in [true, false] {
            let setUp: (inout CoderPair) -> Void = { if !isBase64 { $0.deferData() } }
            compare(Data(), setUp)
            compare([Data([0, 255])], setUp)
            compare(["a": Data(0...255)], setUp)
            let texts = [
                "\"\"", "\"AA==\"", "\"AA=\"", "\"AA\"", "\"A A=\"", "\"AAé=\"", "\"-_==\"", "[]",
                "[0,255]", "[256]", "[-1]", "[1.0]", "null", "[null]", "{}", #""AA\u003d=""#,
            ]
            compare(Data.self, texts: texts, setUp)
            compare([String: Data].self, texts: texts.map { "{\"a\":\($0)}" }, setUp)
        }
    }
}
