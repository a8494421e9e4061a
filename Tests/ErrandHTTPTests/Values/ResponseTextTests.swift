import ErrandHTTP
import Foundation
import Testing

@Suite struct ResponseTextTests {
    private func text(_ bytes: [UInt8], _ contentType: String? = nil) -> String? {
        var response = Response(
            status: .ok, body: .data(Data(bytes)), url: URI(scheme: "http", host: "h", path: "/"))
        if let contentType { response.headers[.contentType] = contentType }
        return response.string
    }

    @Test func charsetParameterDecides() {
        #expect(text([0xe4], "text/plain; charset=ISO-8859-1") == "ä")
        #expect(text([0xcf], "text/plain;charset=\"windows-1251\"") == "П")
        #expect(text([0xc3, 0xa4], "text/plain; a=b; CHARSET=utf-8") == "ä")
        #expect(text([0, 0x61], "text/plain; charset=utf-16be") == "a")
        #expect(text([0x82, 0xa0], "text/html; charset=Shift_JIS") == "あ")
    }

    @Test func invalidBytesForTheCharsetGiveNil() {
        #expect(text([0xff, 0x61], "text/plain; charset=utf-8") == nil)
    }

    @Test func byteOrderMarkDecidesWithoutACharset() {
        #expect(text([0xef, 0xbb, 0xbf, 0x61]) == "a")
        #expect(text([0xff, 0xfe, 0x61, 0]) == "a")
        #expect(text([0xfe, 0xff, 0, 0x61], "text/plain") == "a")
        #expect(text([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]) == "a")
        #expect(text([0xef, 0xbb, 0xbf, 0x61], "text/plain; charset=klingon") == "a")
    }

    @Test func byteOrderMarkOfTheCharsetIsRemoved() {
        #expect(text([0xef, 0xbb, 0xbf, 0x61], "text/plain; charset=utf-8") == "a")
        #expect(text([0xff, 0xfe, 0x61, 0], "text/plain; charset=utf-16") == "a")
        #expect(text([0xff, 0xfe], "text/plain; charset=iso-8859-1") == "ÿþ")
    }

    @Test func fallbackIsUTF8ThenLatin1() {
        #expect(text([0xc3, 0xa4]) == "ä")
        #expect(text([0xe4]) == "ä")
        #expect(text([]) == "")
    }
}

@Suite struct ResponseDecodeTests {
    private struct User: Decodable, Equatable {
        var nick: String
        var level: Int
    }

    private func response(_ json: String) -> Response {
        Response(
            status: .ok, body: .data(Data(json.utf8)),
            url: URI(scheme: "http", host: "h", path: "/"), attempts: 2)
    }

    @Test func valueIsDecoded() throws {
        let user: User = try response(#"{"nick": "a", "level": 3}"#).decode()
        #expect(user == User(nick: "a", level: 3))
    }

    @Test func errorNamesThePathAndKeepsTheResponse() throws {
        let error = #expect(throws: RequestError.self) {
            try response(#"[{"nick": "geheim", "level": "x"}]"#).decode([User].self)
        }
        #expect(error?.code == .undecodable)
        #expect(error?.stage == .decode)
        #expect(error?.message.contains("expected Int at $[0].level") == true)
        #expect(error?.description.contains("geheim") == false)
        #expect(error?.response?.status == .ok)
        #expect(error?.attempts == 2)
        #expect(error?.underlying is DecodingError)
    }

    @Test func emptyBodyIsUndecodable() {
        let error = #expect(throws: RequestError.self) { try response("").decode(User.self) }
        #expect(error?.code == .undecodable)
    }
}
