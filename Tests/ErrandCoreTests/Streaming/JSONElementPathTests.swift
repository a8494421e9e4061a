import ErrandHTTP
import Testing

@testable import ErrandCore

struct JSONElementPathTests {
    private static let supported: [(path: String, names: [String])] = [
        ("$[*]", []), ("$.items[*]", ["items"]), ("$.a.b[*]", ["a", "b"]),
        ("$['a']['b c'][*]", ["a", "b c"]), ("$.a[\"b.c\"].d[*]", ["a", "b.c", "d"]),
        ("$['it\\'s \\\\'][\"a\\\"]\"][*]", ["it's \\", "a\"]"]), ("$._a1.é[*]", ["_a1", "é"]),
        ("$[''][*]", [""]), ("$['*'][*]", ["*"]),
    ]

    @Test(arguments: supported)
    func namesLeadToTheArray(path: String, names: [String]) throws {
        #expect(try JSONElementPath(path).names == names)
    }

    private static let refused: [(path: String, reason: String)] = [
        ("", "it does not begin with $"), ("items[*]", "it does not begin with $"),
        (" $[*]", "it does not begin with $"),
        ("$", "it does not end with [*]"), ("$.items", "it does not end with [*]"),
        ("$.items[0]", "brackets can contain a quoted name or * only"),
        ("$[0:2][*]", "brackets can contain a quoted name or * only"),
        ("$[?@.a][*]", "brackets can contain a quoted name or * only"),
        ("$.items[ * ]", "brackets can contain a quoted name or * only"),
        ("$.a[*].b[*]", "[*] must be its end"), ("$[*][*]", "[*] must be its end"),
        ("$[*].id", "[*] must be its end"), ("$[*] ", "[*] must be its end"),
        ("$..items[*]", ".. and .* select more than one member"),
        ("$.*[*]", ".. and .* select more than one member"),
        ("$.1a[*]", "a name after . must begin with a letter or _"),
        ("$.[*]", "a name after . must begin with a letter or _"),
        ("$.a-b[*]", "a name after . contains letters, digits and _ only"),
        ("$['a','b'][*]", "a bracket contains one name"), ("$['a", "a quoted name has no end"),
        ("$['a\\n'][*]", "a backslash in a name can precede a quote or backslash only"),
        ("$a[*]", "it continues with \"a[*]\""),
    ]

    @Test(arguments: refused)
    func otherPathsAreRefusedWithAReason(path: String, reason: String) {
        let error = #expect(throws: RequestError.self) { try JSONElementPath(path) }
        #expect(error?.code == .unsupported)
        #expect(error?.stage == .build)
        #expect(error?.message.contains("is not supported: \(reason)") == true, "\(error as Any)")
        #expect(error?.message.contains(path.debugDescription) == true)
    }

    @Test
    func descriptionQuotesNames() throws {
        let path = try JSONElementPath("$.a['b c'][*]")
        #expect(path.description == "$.a[\"b c\"][*]")
    }
}
