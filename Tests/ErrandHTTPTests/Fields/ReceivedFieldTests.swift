import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// Field values that are not UTF-8 keep their bytes (RFC 9110 §5.5).
@Suite struct ReceivedFieldTests {
    /// Text in ISO 8859-1 as the value of a field.
    private func field(_ name: HTTPField.Name, _ text: String) -> HTTPField {
        HTTPField(
            name: name, value: text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    @Test func textIsUTF8OrLatin1() {
        #expect(field(.server, "caf\u{E9}").receivedText == "caf\u{E9}")
        #expect(HTTPField(name: .server, value: "caf\u{E9}").receivedText == "caf\u{E9}")
        #expect(HTTPField(name: .server, value: "\u{FFFD}").receivedText == "\u{FFFD}")
        let every = (0x21...0xFF).map { UInt8($0) }.filter { $0 != 0x7F }
        let all = HTTPField(name: .server, value: every)
        #expect(
            all.isLatin1 && all.receivedText.unicodeScalars.map(\.value) == every.map(UInt32.init))
    }

    @Test func cookiesAreSentBackAsReceived() throws {
        let jar = CookieJar(clock: ManualClock())
        let url = try HTTPURL(parsing: "https://a.example/")
        let fields: HTTPFields = HTTPFields([
            field(.setCookie, "old=caf\u{E9}; Max-Age=60"),
            HTTPField(name: .setCookie, value: "new=caf\u{E9}; Max-Age=60"),
        ])
        jar.receive(fields, from: url)
        let cookies = jar.cookies(for: url)
        #expect(cookies.map(\.value) == ["caf\u{E9}", "caf\u{E9}"])
        // Saved cookies keep their form, and files without it can be read.
        let saved = try JSONDecoder().decode([Cookie].self, from: JSONEncoder().encode(cookies))
        #expect(saved == cookies)
        for sent in [cookies, saved] {
            var headers: HTTPFields = [.cookie: "own=1"]
            Cookie.add(sent, to: &headers)
            let bytes = headers[fields: .cookie][0].withUnsafeBytesOfValue { Array($0) }
            #expect(
                bytes == Array("own=1; old=caf".utf8) + [0xE9] + Array("; new=caf".utf8)
                    + [0xC3, 0xA9])
        }
        var changed = cookies[0]
        changed.value = "\u{20AC}"
        #expect(changed.pairBytes == Array("old=\u{20AC}".utf8))
    }

    @Test func fileNamesAndLinksAreRead() throws {
        let name = HTTPField.Name.contentDisposition
        let headers = HTTPFields([field(name, "attachment; filename=\"caf\u{E9}.pdf\"")])
        #expect(FileName.proposed(by: headers) == "caf\u{E9}.pdf")
        let link = try #require(HTTPField.Name("Link"))
        let response = Response(
            status: .ok, headers: HTTPFields([field(link, "</p>; rel=next; title=\"\u{E9}\"")]),
            body: .data(Data()), url: try HTTPURL(parsing: "https://a.example/"), attempts: 1,
            ownTimings: AttemptTimings(), httpVersion: .http11, remoteAddress: nil, trailers: [:],
            requestStorage: nil)
        #expect(response.links.map(\.url.string) == ["https://a.example/p"])
    }
}
