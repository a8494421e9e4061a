import Foundation
import Testing

@testable import ErrandHTTP

@Suite struct ResponseTextTests {
    private func text(_ bytes: [UInt8], _ contentType: String? = nil) -> String? {
        var response = Response(
            status: .ok, body: .data(Data(bytes)),
            url: HTTPURL(scheme: "http", host: "h", path: "/"))
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

    /// The labels of the WHATWG Encoding Standard, one text for each encoding.
    @Test(
        arguments: [
            ("gbk", [0xC4, 0xE3, 0x80], "你€"), ("GB2312", [0xC4, 0xE3], "你"),
            ("chinese", [0xC4, 0xE3], "你"),
            ("gb18030", [0x81, 0x30, 0x81, 0x30], "\u{80}"), ("big5", [0xA7, 0x41], "你"),
            ("euc-jp", [0xA4, 0xA2], "あ"), ("x-euc-jp", [0x8E, 0xB1], "ｱ"),
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42], "あ"),
            ("shift_jis", [0x82, 0xA0], "あ"), ("windows-31j", [0x87, 0x40], "①"),
            ("euc-kr", [0xB0, 0xA1], "가"), ("ks_c_5601-1987", [0x81, 0x41], "갂"),
            ("koi8-r", [0xC1], "а"), ("koi8-u", [0xA4], "є"), ("ibm866", [0x80], "А"),
            ("macintosh", [0x80, 0xC6], "Ä∆"),
            ("iso-8859-2", [0xB1], "ą"), ("latin3", [0xA1], "Ħ"), ("iso-8859-4", [0xA2], "ĸ"),
            ("cyrillic", [0xB0], "А"),
            ("arabic", [0xC7], "ا"), ("greek", [0xE1], "α"), ("hebrew", [0xE0], "א"),
            ("logical", [0xE0], "א"),
            ("latin6", [0xA1], "Ą"), ("iso-8859-13", [0xC0], "Ą"), ("iso-8859-14", [0xA1], "Ḃ"),
            ("iso-8859-15", [0xA4], "€"), ("iso-8859-16", [0xA4], "€"), ("tis-620", [0xA1], "ก"),
            ("windows-1250", [0x9A, 0x81], "š\u{81}"), ("cp1251", [0xE0], "а"),
            ("x-cp1252", [0x80, 0x81], "€\u{81}"),
            ("windows-1253", [0xE1], "α"), ("latin5", [0xFD], "ı"),
            ("windows-1255", [0xE0, 0xCA], "א\u{5BA}"),
            ("windows-1256", [0xC7], "ا"), ("windows-1257", [0xC0], "Ą"),
            ("windows-1258", [0xFE, 0x61, 0xEC], "₫a\u{301}"),
            ("x-mac-cyrillic", [0x80, 0xFF], "А€"),
            // Both mean windows-1252.
            ("iso-8859-1", [0x80], "€"), ("us-ascii", [0xE4], "ä"),
            ("utf-16", [0x61, 0], "a"), ("unicodefffe", [0, 0x61], "a"),
            ("utf-32be", [0, 0, 0, 0x61], "a"),
            ("Unicode-1-1-UTF-8", [0xC3, 0xA4], "ä"),
        ] as [(String, [UInt8], String)])
    func labelsNameTheirEncoding(label: String, bytes: [UInt8], expected: String) {
        let decoded = text(bytes, "text/plain; charset=\(label)")
        #expect(decoded?.utf8.elementsEqual(expected.utf8) == true, "\(decoded ?? "nil")")
    }

    @Test(
        arguments: [
            ("gbk", [0x81]), ("euc-jp", [0xA4]), ("big5", [0xFF]), ("windows-1253", [0xFF]),
            ("utf-8", [0xC3]),
            // The standard decodes these with replacement characters only; the last two are no labels.
            ("iso-2022-kr", [0x61]), ("hz-gb-2312", [0x61]), ("klingon", [0x61]),
            ("\u{212A}oi8-r", [0x61]),
        ] as [(String, [UInt8])])
    func invalidBytesAndUnknownLabelsGiveNil(label: String, bytes: [UInt8]) {
        #expect(text(bytes, "text/plain; charset=\(label)") == nil)
    }

    @Test func longTextIsDecodedInPieces() {
        let bytes = [UInt8](repeating: 0xC4, count: 20_001).enumerated().map {
            $0.offset % 2 == 0 ? $0.element : 0xE3
        }
        #expect(text(bytes.dropLast(), "a/b; charset=gbk") == String(repeating: "你", count: 10_000))
        #expect(text(bytes, "a/b; charset=gbk") == nil)
    }

    @Test func errorNamesTheCharset() {
        func problem(_ charset: String) -> String {
            var response = Response(
                status: .ok, body: .data(Data([0xFF])),
                url: HTTPURL(scheme: "http", host: "h", path: "/"))
            response.headers[.contentType] = "text/plain; charset=\(charset)"
            return response.textProblem
        }
        #expect(
            problem("klingon").contains(
                "\"klingon\" of the response's Content-Type is not supported"))
        #expect(problem("utf-8").contains("not valid in the charset \"utf-8\""))
        #expect(problem(String(repeating: "x", count: 1000)).utf8.count < 200)
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
            url: HTTPURL(scheme: "http", host: "h", path: "/"), attempts: 2)
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
