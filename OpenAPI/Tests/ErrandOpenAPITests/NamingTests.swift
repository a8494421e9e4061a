import Testing

@testable import ErrandOpenAPI

/// Names of Swift from names of documents.
@Suite(.limited) struct NamingTests {
    @Test(arguments: [
        ("created_at", "createdAt"), ("CreatedAt", "createdAt"), ("HTTPServer", "httpServer"),
        ("ID", "id"), ("user-id", "userId"), ("X-Rate-Limit", "xRateLimit"),
        ("SOLD_OUT", "soldOut"),
        ("userID", "userID"), ("$filter", "filter"), ("1024x768", "value1024x768"), ("+1", "plus1"),
        ("-1", "minus1"), ("", "empty"), ("a.b.c", "aBC"), ("image/jpeg", "imageJpeg"),
        ("größe", "größe"), ("v2Beta", "v2Beta"), (">=", "greaterEqual"),
    ])
    func members(text: String, name: String) { #expect(SwiftName.member(text) == name) }

    @Test(arguments: [
        ("pet", "Pet"), ("api.v2010.account", "ApiV2010Account"), ("User--Base", "UserBase"),
        ("HTTPError", "HTTPError"), ("get-board", "GetBoard"), ("3dModel", "Value3dModel"),
    ])
    func types(text: String, name: String) { #expect(SwiftName.type(text) == name) }

    @Test(arguments: [
        ("Items", "Item"), ("Categories", "Category"), ("Boxes", "Box"), ("Status", "StatusItem"),
        ("Addresses", "Address"), ("Data", "DataItem"),
    ])
    func singulars(text: String, name: String) { #expect(SwiftName.singular(text) == name) }

    @Test func takenNamesGetNumbers() {
        var scope = NameScope(["a"])
        #expect(scope.take("a", "aValue") == "aValue")
        #expect(scope.take("a", "aValue") == "aValue2")
        #expect(scope.take("b") == "b")
    }

    @Test func namesOfSwiftAndErrandGetTheNameOfTheService() {
        let output = generate(
            """
            paths: {}
            components:
              schemas:
                Error: {type: object, properties: {class: {type: string}, self: {type: string}}}
                error: {type: object, properties: {a: {$ref: '#/components/schemas/Error'}}}
            """)
        #expect(
            output.models == """
                nonisolated struct ShopError: Codable, Sendable {
                    var `class`: String?
                    var selfValue: String?

                    enum CodingKeys: String, CodingKey {
                        case `class`
                        case selfValue = "self"
                    }
                }

                nonisolated struct ShopError2: Codable, Sendable {
                    var a: ShopError?
                }

                """)
    }
}
