import ErrandHTTP
import Foundation
import HTTPTypes
import Testing

/// Valid and invalid `Vary` fields (RFC 9110 §12.5.5 and RFC 9111 §4.1).
@Suite struct VaryingFieldsTests {
    private static func fields(_ values: [String]) -> VaryingFields {
        var headers = HTTPFields()
        for value in values { headers.append(HTTPField(name: .vary, value: value)) }
        return VaryingFields(headers)
    }

    @Test(arguments: [
        (["Accept, ACCEPT", "b,,a"], ["a", "accept", "b"], false), (["", " , "], [], false),
        (["*"], [], true), (["a", "*"], [], true), (["a, * , b"], [], true),
        // An invalid field name counts as `*`.
        (["a b"], [], true), (["\"a,b\""], [], true), (["a;q=1"], [], true),
    ])
    func parsedFieldNames(values: [String], names: [String], isEverything: Bool) {
        let fields = Self.fields(values)
        #expect(fields.names == names && fields.isEverything == isEverything)
    }

    @Test func moreThan32NamesMeanEverything() {
        let list = (0..<32).map { "x-\($0)" }.joined(separator: ",")
        #expect(Self.fields([list]).names.count == 32)
        #expect(Self.fields([list + ",y"]).isEverything)
        #expect(Self.fields([String(repeating: "a,b,", count: 30_000)]).names == ["a", "b"])
    }

    @Test func onlyLanguageValuesIgnoreCase() {
        let fields = Self.fields(["Accept-Language, X-Kind"])
        let storeKey = Data(repeating: 1, count: 32)
        let one = fields.digest(of: [.acceptLanguage: "en-GB, de"], key: storeKey)
        #expect(one == fields.digest(of: [.acceptLanguage: "EN-gb,DE"], key: storeKey))
        #expect(
            one != fields.digest(of: [.acceptLanguage: "de, en-GB"], key: storeKey),
            "order is preference")
        guard let kind = HTTPField.Name("X-Kind") else { return }
        #expect(
            fields.digest(of: [kind: "a"], key: storeKey)
                != fields.digest(of: [kind: "A"], key: storeKey))
        #expect(
            fields.digest(of: [kind: "a"], key: storeKey)
                != fields.digest(of: [kind: "a"], key: Data(repeating: 2, count: 32)))
        #expect(fields.digest(of: [kind: "hush"], key: storeKey).contains("hush") == false)
    }
}
