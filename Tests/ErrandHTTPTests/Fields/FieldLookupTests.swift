import ErrandHTTP
import HTTPTypes
import Testing

/// Lookups of fields, which agree with those of `HTTPFields`.
@Suite struct FieldLookupTests {
    private static let fields: HTTPFields = {
        var fields: HTTPFields = [.contentType: "text/plain", .age: "1"]
        fields.append(HTTPField(name: .custom("ACCEPT"), value: "a"))
        fields.append(HTTPField(name: .accept, value: "b"))
        fields.append(HTTPField(name: .cookie, value: "c=1"))
        fields.append(HTTPField(name: .cookie, value: "d=2"))
        return fields
    }()

    @Test(arguments: [
        HTTPField.Name.contentType, .age, .accept, .cookie, .date, .custom("content-typf"),
    ])
    func lookupsAgreeWithSubscripts(name: HTTPField.Name) {
        #expect(Self.fields.has(name) == Self.fields.contains(name))
        #expect(Self.fields.first(named: name) == Self.fields[fields: name].first)
        #expect(Self.fields.text(of: name) == Self.fields[name])
    }
}
