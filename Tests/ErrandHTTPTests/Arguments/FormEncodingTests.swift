import Foundation
import Synchronization
import Testing

@testable import ErrandHTTP

/// Arguments in form encoding, compared byte by byte.
struct FormEncodingTests {
    private func form(
        _ arguments: Arguments, _ encoding: ArgumentEncoding = ArgumentEncoding()
    ) throws -> String {
        String(decoding: try FormWriter.bytes(of: arguments, encoding: encoding), as: UTF8.self)
    }

    @Test func escapesAllButUnreservedQuestionMarkAndSlash() throws {
        let ascii = String(decoding: (0x20...0x7E).map { UInt8($0) }, as: UTF8.self)
        #expect(
            try form(["k": ascii])
                == "k=%20%21%22%23%24%25%26%27%28%29%2A%2B%2C-./0123456789%3A%3B%3C%3D%3E?%40"
                + "ABCDEFGHIJKLMNOPQRSTUVWXYZ%5B%5C%5D%5E_%60abcdefghijklmnopqrstuvwxyz%7B%7C%7D~")
        #expect(try form(["a b&=": "c"]) == "a%20b%26%3D=c")
    }

    @Test func unreservedAndWebFormEscapes() throws {
        let text = "a?/~* +é"
        #expect(try form(["k": text]) == "k=a?/~%2A%20%2B%C3%A9")
        #expect(
            try form(["k": text], ArgumentEncoding(escapes: .unreserved))
                == "k=a%3F%2F~%2A%20%2B%C3%A9")
        #expect(try form(["k": text], .webForm) == "k=a%3F%2F%7E*+%2B%C3%A9")
        #expect(
            try form(["k k": text], ArgumentEncoding(spaces: .plus)) == "k+k=a?/~%2A+%2B%C3%A9")
    }

    @Test func multiScalarEmojiAreEncodedCompletely() throws {
        let family = "👨‍👩‍👧‍👦"
        let encoded = "%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7%E2%80%8D%F0%9F%91%A6"
        let many = String(repeating: family, count: 40)
        #expect(try form(["k": many]) == "k=" + String(repeating: encoded, count: 40))
    }

    @Test func nestingAndOrder() throws {
        let arguments: Arguments = [
            "b": ["z": 1, "y": ["x": [1, 2]]] as Arguments, "a": [["k": 1], ["k": 2]],
        ]
        #expect(
            try form(arguments)
                == "b%5Bz%5D=1&b%5By%5D%5Bx%5D%5B%5D=1&b%5By%5D%5Bx%5D%5B%5D=2"
                + "&a%5B%5D%5Bk%5D=1&a%5B%5D%5Bk%5D=2")
        #expect(
            try form(arguments, ArgumentEncoding(sortsKeys: true))
                == "a%5B%5D%5Bk%5D=1&a%5B%5D%5Bk%5D=2"
                + "&b%5By%5D%5Bx%5D%5B%5D=1&b%5By%5D%5Bx%5D%5B%5D=2&b%5Bz%5D=1")
    }

    @Test func arrayStyles() throws {
        let arguments: Arguments = ["a": [1, 2], "b": ["x,y", "z"], "e": [Int]()]
        #expect(try form(arguments) == "a%5B%5D=1&a%5B%5D=2&b%5B%5D=x%2Cy&b%5B%5D=z")
        #expect(
            try form(arguments, ArgumentEncoding(arrays: .indices))
                == "a%5B0%5D=1&a%5B1%5D=2&b%5B0%5D=x%2Cy&b%5B1%5D=z")
        #expect(
            try form(arguments, ArgumentEncoding(arrays: .repeated)) == "a=1&a=2&b=x%2Cy&b=z")
        #expect(try form(arguments, ArgumentEncoding(arrays: .comma)) == "a=1,2&b=x%2Cy,z")
        let error = #expect(throws: RequestError.self) {
            try form(["list": [[1]]], ArgumentEncoding(arrays: .comma))
        }
        #expect(error?.code == .invalidArguments)
        #expect(error?.message.contains("\"list\"") == true)
    }

    @Test func setsRepeatTheKeyInSortedOrder() throws {
        #expect(try form(["s": Set(["b", "a", "c"])]) == "s=a&s=b&s=c")
        #expect(try form(["s": Set([10, 9, 1])]) == "s=1&s=10&s=9")
    }

    @Test func nullStyles() throws {
        let arguments: Arguments = ["a": nil, "b": [1, nil] as [Int?], "c": ["d": nil as Int?]]
        #expect(try form(arguments) == "a&b%5B%5D=1&b%5B%5D&c%5Bd%5D")
        #expect(
            try form(arguments, ArgumentEncoding(nulls: .empty))
                == "a=&b%5B%5D=1&b%5B%5D=&c%5Bd%5D=")
        #expect(try form(arguments, ArgumentEncoding(nulls: .omit)) == "b%5B%5D=1")
    }

    /// A nil property of an `Encodable` value is a null, as in a dictionary; JSON and property lists leave it out.
    @Test func nilPropertiesFollowTheStyleOfNulls() throws {
        struct Inner: Encodable {
            var x: Double?
            var y: [Int]? = [1]
        }
        struct Value: Encodable {
            var a: String?
            var b: Int? = 1
            var c: Inner? = Inner()
            var d: Inner?
            var e: Bool?
            var f: UInt8?
            var g: Date?
        }
        let arguments = Arguments(encoding: Value())
        #expect(try form(arguments) == "a&b=1&c%5Bx%5D&c%5By%5D%5B%5D=1&d&e&f&g")
        #expect(
            try form(arguments, ArgumentEncoding(nulls: .empty))
                == "a=&b=1&c%5Bx%5D=&c%5By%5D%5B%5D=1&d=&e=&f=&g=")
        #expect(
            try form(arguments, ArgumentEncoding(nulls: .omit)) == "b=1&c%5By%5D%5B%5D=1")
        let dictionary: Arguments = ["a": nil, "b": 1]
        #expect(try form(dictionary) == "a&b=1")
        let json = try ArgumentJSONWriter.bytes(of: arguments, encoding: ArgumentEncoding())
        #expect(String(decoding: json, as: UTF8.self) == #"{"b":1,"c":{"y":[1]}}"#)
        _ = try ArgumentPropertyListWriter(encoding: ArgumentEncoding())
            .data(of: arguments, format: .xml)
        var changed = arguments
        changed["a"] = Arguments.Node.null
        let null = try ArgumentJSONWriter.bytes(of: changed, encoding: ArgumentEncoding())
        #expect(String(decoding: null, as: UTF8.self) == #"{"a":null,"b":1,"c":{"y":[1]}}"#)
    }

    @Test func boolsAndNumbers() throws {
        #expect(try form(["t": true, "f": false]) == "t=1&f=0")
        #expect(
            try form(["t": true, "f": false], ArgumentEncoding(bools: .literal)) == "t=true&f=false"
        )
        #expect(
            try form([
                "a": 1.0, "b": 0.1, "c": -2.5, "d": 1e20, "e": Float(0.1), "f": 1e-7, "g": -0.0,
            ])
                == "a=1&b=0.1&c=-2.5&d=1e%2B20&e=0.1&f=1e-07&g=-0")
        #expect(
            try form([
                "a": Int.min, "b": UInt64.max, "c": Decimal(string: "0.10"), "d": UInt8(7),
                "e": Int16(-1),
            ]) == "a=-9223372036854775808&b=18446744073709551615&c=0.1&d=7&e=-1")
        for value in [Double.nan, .infinity] {
            let error = #expect(throws: RequestError.self) { try form(["x": value]) }
            #expect(error?.code == .invalidArguments)
        }
    }

    @Test func dateStyles() throws {
        let date = Date(timeIntervalSince1970: 1_709_210_096.5)
        #expect(try form(["d": date]) == "d=2024-02-29T12%3A34%3A56Z")
        func text(_ style: ArgumentEncoding.DateStyle) throws -> String {
            try form(["d": date], ArgumentEncoding(dates: style))
        }
        #expect(try text(.iso8601Milliseconds) == "d=2024-02-29T12%3A34%3A56.500Z")
        #expect(try text(.secondsSince1970) == "d=1709210096.5")
        #expect(try text(.millisecondsSince1970) == "d=1709210096500")
        #expect(try text(.custom { _ in "now" }) == "d=now")
        #expect(
            try form(
                ["d": Date(timeIntervalSince1970: 7)], ArgumentEncoding(dates: .secondsSince1970))
                == "d=7")
        let far = Date(timeIntervalSince1970: .infinity)
        for style in [ArgumentEncoding.DateStyle.iso8601, .millisecondsSince1970] {
            #expect(throws: RequestError.self) {
                try form(["d": far], ArgumentEncoding(dates: style))
            }
        }
    }

    @Test(arguments: [
        (-62_167_219_200, "0000-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
        (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
        (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ])
    func iso8601CalendarDates(seconds: Double, text: String) {
        #expect(ArgumentDateText.text(of: seconds, milliseconds: false) == text)
    }

    @Test func dataStyles() throws {
        let data = Data([0xFB, 0xFF, 0x00])
        #expect(try form(["d": data]) == "d=%2B/8A")
        #expect(try form(["d": data], ArgumentEncoding(data: .hex)) == "d=fbff00")
    }

    @Test func customEncodingReplacesAllOptions() throws {
        let encoding = ArgumentEncoding(custom: { "x=\($0.count) ü%20" })
        #expect(try form(["a": 1, "b": 2], encoding) == "x=2%20%C3%BC%20")
        struct Refused: Error {}
        let error = #expect(throws: RequestError.self) {
            try form([:], ArgumentEncoding(custom: { _ in throw Refused() }))
        }
        #expect(error?.code == .invalidArguments)
        #expect(error?.underlying is Refused)
    }

    @Test func nestingDepthIsLimited() {
        var arguments: Arguments = ["a": 1]
        for _ in 0..<200 { arguments = ["n": arguments] }
        let deep = arguments
        #expect(throws: RequestError.self) { try form(deep) }
        #expect(throws: RequestError.self) {
            try ArgumentJSONWriter.bytes(of: deep, encoding: .init())
        }
    }

    @Test func collectionsWithinASetAreSortedByTheirValues() throws {
        let objects: Set<[String: Int]> = Set((0..<8).map { ["n": $0] })
        let expected = (0..<8).map { "s%5Bn%5D=\($0)" }.joined(separator: "&")
        for _ in 0..<8 {
            // Each copy has an order of its own.
            let copy = Set(Array(objects).shuffled())
            #expect(try form(["s": copy]) == expected)
        }
    }

    @Test func errorsWithinASetNameTheArgument() {
        let values: [Arguments] = [
            ["s": Set([Double.nan])], ["s": Set([[Double.nan]])], ["s": Set([["n": Double.nan]])],
            ["s": Set([Set([["n": Double.nan]])])],
        ]
        for arguments in values {
            let errors = [
                #expect(throws: RequestError.self) { try form(arguments) },
                #expect(throws: RequestError.self) {
                    var fields = MultipartFields(encoding: ArgumentEncoding())
                    try fields.add(arguments)
                },
            ]
            for error in errors {
                #expect(error?.message.hasPrefix("The argument \"s\" is nan") == true)
            }
        }
    }

    @Test func customDateStyleIsCalledOnceForEachDateOfASet() throws {
        let calls = Mutex<[Double]>([])
        let encoding = ArgumentEncoding(
            dates: .custom { date in
                calls.withLock { $0.append(date.timeIntervalSince1970) }
                return "t\(Int(date.timeIntervalSince1970))"
            })
        let (first, second) = (Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 2))
        let arguments: Arguments = [
            "a": Set([second, first]), "b": Set([["d": second]]), "c": Set([[first]]),
        ]
        let text = try form(arguments, encoding)
        #expect(text == "a=t1&a=t2&b%5Bd%5D=t2&c%5B%5D=t1")
        #expect(calls.withLock { $0.sorted() } == [1, 1, 2, 2])
        calls.withLock { $0 = [] }
        var fields = MultipartFields(encoding: encoding)
        try fields.add(arguments)
        #expect(fields.parts.map(\.name) == ["a", "a", "b[d]", "c[]"])
        #expect(calls.withLock { $0.sorted() } == [1, 1, 2, 2])
    }
}
