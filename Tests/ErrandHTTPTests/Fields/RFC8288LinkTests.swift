import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandHTTP

/// The `Link` header (RFC 8288).
@Suite struct RFC8288LinkTests {
    private func response(_ fields: String...) throws -> Response {
        var response = Response(
            status: .ok, url: try HTTPURL(parsing: "https://api.example.com/items?page=2"))
        let name = try #require(HTTPField.Name("Link"))
        for field in fields { response.headers.append(HTTPField(name: name, value: field)) }
        return response
    }

    @Test func linksOfPagesAreFoundByRelation() throws {
        let response = try response(
            #"<https://api.example.com/items?page=3>; rel="next", "#
                + #"<https://api.example.com/items?page=1>; rel="prev first""#)
        #expect(response.links["next"]?.string == "https://api.example.com/items?page=3")
        #expect(response.links["prev"]?.query == "page=1")
        #expect(response.links["First"]?.query == "page=1")
        #expect(response.links["last"] == nil)
        #expect(response.links.count == 2)
    }

    @Test func relativeTargetsAreResolvedAgainstTheURLOfTheResponse() throws {
        let response = try response(
            "<?page=3>; rel=next", "</other>; rel=up", "<../x>;rel=alternate")
        #expect(response.links["next"]?.string == "https://api.example.com/items?page=3")
        #expect(response.links["up"]?.string == "https://api.example.com/other")
        #expect(response.links["alternate"]?.string == "https://api.example.com/x")
    }

    @Test(arguments: [
        #"<a>;rel=next"#, #"<a> ; rel = "next""#, #", ,<a>;;rel=next;,"#, #"<a>; REL="NEXT""#,
        #"<a>; title="a,b;c\"d"; rel="next""#, #"<b>;rel=prev , <a>;rel=next"#,
        #"<a>; rel="next"; rel="prev""#, "<a>\t;\trel=next", #"<a>; crossorigin; rel=next"#,
    ])
    func formsOfTheGrammarAreUnderstood(field: String) throws {
        let links = try response(field).links
        #expect(links["next"]?.path == "/a", "\(field)")
    }

    @Test(arguments: [
        "", "a; rel=next", "<a; rel=next", "<a b>; rel=next", "<a>; rel=\"next", "<a> rel=next",
        "<a>; rel", "<a>; rel=", "<a>", "<a>; rel=next; <b>; rel=prev", "<a>; rel=next x",
        "<a<b>; rel=next", "<\"a\">; rel=next", "<http://[::1>; rel=next",
    ])
    func malformedFieldsHaveNoLinks(field: String) throws {
        #expect(try response(field).links.isEmpty, "\(field)")
    }

    @Test func malformedFieldLeavesTheOthers() throws {
        let links = try response("<a>; rel=next, <b", "<c>; rel=last").links
        #expect(links["next"]?.path == "/a" && links["last"]?.path == "/c")
    }

    /// RFC 8288 appendix B: a malformed member is left out, and those around it remain.
    @Test(arguments: [
        "b; rel=prev", "<b c>; rel=prev", "<b<c>; rel=prev", "<\"b\">; rel=prev", "<b> rel=prev",
        "<b>; rel=", "<b>; rel=prev x", "<b>; rel=prev; <c>; rel=prev", "<b>; rel=prev; =x",
        "<b>; rel=prev \"x, <c>; rel=prev\"", "x<c,d>; rel=prev", "<http://[::1>; rel=prev", "\"\"",
        "<b>; rel=prev; title=\"a\"b\"c, <c>; rel=prev\"", "<b>", "x", ">", "=", ";",
    ])
    func malformedMemberLeavesTheOthers(member: String) throws {
        let links = try response("<a>; rel=next, \(member), <z>; rel=\"last\"").links
        #expect(links["next"]?.path == "/a" && links["last"]?.path == "/z", "\(member)")
        #expect(links["prev"] == nil && links.count == 2, "\(member)")
    }

    /// What follows could belong to a quoted string or a target that is not closed.
    @Test(arguments: ["<b; rel=prev", "<b>; rel=\"prev", "\"", "<b>; rel=prev; title=\"\\\""])
    func unclosedMemberEndsTheField(member: String) throws {
        let links = try response("<a>; rel=next, \(member), z; rel=last").links
        #expect(links["next"]?.path == "/a" && links.count == 1, "\(member)")
    }

    @Test(arguments: ["https://example.com/rels/x", "näxt", "a/b", "next'"])
    func unquotedValueNeedNotBeAToken(value: String) throws {
        let links = try response("<a>; rel=\(value); title=x, <b>; rel=prev").links
        #expect(links[value]?.path == "/a" && links["prev"]?.path == "/b")
    }

    /// The work is proportional to the length, for fields that are malformed as a whole.
    @Test(arguments: ["<", "\"", ",", "<a>", "<,", "\",", "x,", "<a b>,", "\"\"x,"])
    func longMalformedFieldsHaveNoLinks(piece: String) throws {
        let text = String(repeating: piece, count: 30_000)
        #expect(LinkField.links(of: text).isEmpty)
    }

    @Test func firstOfRepeatedParametersCounts() throws {
        let link = try #require(
            try response("<a>; rel=next; rel=prev; title=x; Title=y").links.first)
        #expect(link.relations == ["next"] && link.parameters["title"] == "x")
    }

    @Test func linksOfAnotherResourceAreNotFoundByRelation() throws {
        let links = try response("<a>; rel=next; anchor=\"#part\"", "<b>; rel=next").links
        #expect(links["next"]?.path == "/b")
        #expect(links.first?.anchor?.string == "https://api.example.com/items?page=2#part")
        let own = try response("<a>; rel=next; anchor=\"\"").links
        #expect(own["next"]?.path == "/a" && own.first?.anchor == nil)
    }

    @Test func numberOfLinksIsBounded() throws {
        let many = Array(repeating: "<a>; rel=next", count: LinkField.maximumCount)
        #expect(try response(many.joined(separator: ",")).links.count == many.count)
        #expect(try response((many + ["<b>; rel=prev"]).joined(separator: ",")).links.isEmpty)
        let parameters = Array(repeating: "; a=b", count: LinkField.maximumCount + 1).joined()
        #expect(try response("<a>; rel=next\(parameters)").links.isEmpty)
    }

    @Test func arbitraryTextEndsInLinksOrNone() throws {
        var random = SeededGenerator(seed: 8288)
        let alphabet = Array("<>;,=\" \t\\abrel*next")
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &random)
            let text = String(
                (0..<count).map { _ in alphabet.randomElement(using: &random) ?? "," })
            for link in try response(text).links { #expect(!link.relations.isEmpty) }
        }
    }

    @Test func headerFieldsAreFoundByTheirNames() throws {
        var response = try response()
        response.headers.append(HTTPField(name: .setCookie, value: "a=1"))
        response.headers.append(HTTPField(name: .setCookie, value: "b=2"))
        let total = try #require(HTTPField.Name("X-Total"))
        response.headers.append(HTTPField(name: total, value: "41"))
        response.headers.append(HTTPField(name: .via, value: "x"))
        response.headers.append(HTTPField(name: .via, value: "y"))
        #expect(response.header("x-total") == "41" && response.header("X-Total") == "41")
        #expect(response.header("Via") == "x, y" && response.header("set-cookie") == "a=1")
        #expect(response.header("missing") == nil && response.header("not a token") == nil)
    }
}
