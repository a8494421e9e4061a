import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandRecording

/// Secrets are found by the content of a field or body, whatever its name or type says.
@Suite(.limited) struct RedactionByContentTests {
    private static let rules = RedactionRules.standard

    private func body(_ text: String, _ type: String?) -> String? {
        Self.rules.redacted(body: Data(text.utf8), contentType: type)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: - Fields

    @Test(arguments: [
        ("Location", "https://a.example/cb#access_token=hush&x=1"),
        ("Location", "/cb?x=1#/route?token=hush"), ("Location", "/a;jsessionid=hush/b?x=1"),
        ("Location", "https://a.example/login?next=https%3A%2F%2Fb.example%2F%3Ftoken%3Dhush"),
        ("Refresh", "5; url=https://a.example/?token=hush"), ("Refresh", "0;URL='/x?token=hush'"),
        ("SourceMap", "/app.js.map?sig=hush"), ("X-SourceMap", "app.map?api_key=hush"),
        ("X-Original-URL", "/x?x=1&access_token=hush"), ("X-Forwarded-Uri", "/x?token=hush"),
        ("X-Rewrite-URL", "http://me:hush@a.example/x"), ("X-Accel-Redirect", "/f#token=hush"),
        ("Report-To", #"{"group":"a","endpoints":[{"url":"https://r.example/?key=hush"}]}"#),
        (
            "Report-To",
            #"{"group":"a"}, {"group":"b","endpoints":[{"url":"https://r.example/?key=hush"}]}"#
        ),
        ("Reporting-Endpoints", #"main="https://r.example/?token=hush""#),
        ("Content-Security-Policy", "report-uri /r?token=hush; default-src 'self'"),
        ("NEL", #"{"report_to":"a","password":"hush""#), ("X-Data", #"{"token":"hush"}"#),
        ("Link", "</x?token=hush>; rel=next"), ("Link", "</x>; title=\"?token=hush\""),
        ("Referer", "https://a.example/?password=hush;x=1"),
        ("Content-Location", "/x?a=%7B%22token%22%3A%22hush%22%7D"),
    ])
    func fieldsHaveNoSecrets(name: String, value: String) {
        let redacted = Self.rules.header(name, value)
        #expect(!redacted.contains("hush"), "\(redacted)")
        #expect(RedactionRules.none.header(name, value) == value)
    }

    @Test(arguments: [
        ("Accept", "text/html;q=0.9, */*"), ("ETag", #""abc=""#), ("Cache-Control", "max-age=60"),
        ("Content-Type", "multipart/form-data; boundary=x=y"), ("Location", "/x?page=2#part"),
        ("Report-To", #"{"group":"a", "max_age":1}"#), ("Vary", "*"),
        ("Content-Disposition", #"attachment; filename="[a] b.txt""#),
        ("Refresh", "5; url=/x?page=2"), ("Server-Timing", "db;dur=53, app;dur=47.2"),
    ])
    func otherFieldsAreUnchanged(name: String, value: String) {
        #expect(Self.rules.header(name, value) == value)
    }

    /// The attempts to read JSON within a value must not multiply over the levels of texts in texts.
    @Test func nestedBeginningsOfJSONAreBounded() {
        let text = String(repeating: "a=[", count: 2000)
        #expect(Self.rules.header("X-A", text) == text)
        #expect(body(text, "application/x-www-form-urlencoded") == text)
    }

    @Test func wordsInMixedCaseAreNamesOfSecrets() {
        for name in ["X-ClientKey", "UserPin", "X-AppSid"] {
            #expect(Self.rules.header(name, "hush") == "REDACTED")
        }
    }

    @Test func eventWithAnEmptyFirstLineStaysAnEvent() {
        #expect(
            body("data\ndata:{\"token\":\"x\"}\n\n", "text/event-stream")?.contains("data{")
                == false)
    }

    @Test func partsOfURLsAreRedacted() {
        #expect(
            Self.rules.url("https://a.example/cb?x=1#access_token=a&state=1")
                == "https://a.example/cb?x=1#access_token=REDACTED&state=1")
        #expect(
            Self.rules.url("https://a.example/?next=%2Fx%3Ftoken%3D1&page=2")
                == "https://a.example/?next=%2Fx%3Ftoken%3DREDACTED&page=2")
    }

    // MARK: - Bodies

    private static let documents = [
        #"{"token":"hush"}"#, #"[{"a":{"password":"hush"}}]"#,
        #"{"a":"{\"token\":\"hush\"}"}"#, #"{"a":"{\"b\":\"{\\\"token\\\":\\\"hush\\\"}\"}"}"#,
        #"{"url":"https://a.example/?token=hush"}"#, #"{"url":"https://me:hush@a.example/"}"#,
        #"{"form":"a=1&password=hush"}"#, #"{"t\u006fken":"hush"}"#,
        "{\n  \"a\": 1,\n  \"token\":\n    \"hush\"\n}",
        // Documents that cannot be parsed.
        #"{"token":"hush""#, #"{token:"hush"}"#, #"{"a":1,"token":"hush",}"#,
        #"{"a":"{\"token\":\"hush\""}"#,
    ]

    private static let types: [String?] = [
        nil, "", "application/json", "application/vnd.api+json; charset=utf-8", "text/plain",
        "application/octet-stream", "text/json", "binary/octet-stream", "application/x-ndjson",
        "application/json-seq", "application/graphql-response", "x/y",
    ]

    @Test(arguments: types) func documentsOfAnyTypeHaveNoSecrets(type: String?) {
        for document in Self.documents {
            for text in [document, " \n" + document, "\u{FEFF}" + document, document + "\n"] {
                let redacted = body(text, type)
                #expect(redacted?.contains("hush") != true, "\(redacted ?? "")")
            }
        }
    }

    @Test(arguments: [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32])
    func wideDocumentsHaveNoSecrets(encoding: String.Encoding) throws {
        for type in ["application/json", "text/plain"] {
            let data = try #require(#"{"token":"hush","a":1}"#.data(using: encoding))
            let redacted = Self.rules.redacted(body: data, contentType: type)
            #expect(
                redacted.map { String(decoding: $0, as: UTF8.self) }
                    == #"{"token":"REDACTED","a":1}"#)
            let harmless = try #require(#"{"a":1}"#.data(using: encoding))
            #expect(Self.rules.redacted(body: harmless, contentType: type) == harmless)
        }
    }

    @Test func documentsInFormsAndPartsHaveNoSecrets() {
        for document in Self.documents {
            let encoded = PercentEncoding.encoded(document.utf8, keeping: .alphanumeric)
            for type in [nil, "application/x-www-form-urlencoded", "text/plain"] {
                let redacted = body("a=1&data=\(encoded)&b=2", type)
                #expect(redacted?.contains("hush") != true, "\(redacted ?? "")")
                #expect(redacted?.hasPrefix("a=1&data=") == true)
            }
            for (type, line) in [
                ("multipart/form-data; boundary=xyz", "\r\n"),
                ("multipart/mixed; boundary=\"xyz\"", "\n"), (nil, "\r\n"), ("text/plain", "\r\n"),
            ] as [(String?, String)] {
                for head in ["", "Content-Type: application/json\(line)"] {
                    let text =
                        "--xyz\(line)Content-Disposition: form-data; name=\"a\"\(line)\(head)\(line)"
                        + "\(document)\(line)--xyz\(line)Content-Disposition: form-data; name=\"b\"\(line)"
                        + "\(line)2\(line)--xyz--\(line)"
                    let redacted = body(text, type)
                    #expect(redacted?.contains("hush") != true, "\(redacted ?? "")")
                    #expect(redacted?.contains("name=\"b\"\(line)\(line)2\(line)--xyz--") == true)
                }
            }
        }
    }

    @Test func namedPartsAreRedacted() {
        let text =
            "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhush\r\n--x\r\n"
            + "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n"
            + "Authorization: Bearer hush\r\n\r\ntext\r\n--x--\r\n"
        let redacted = body(text, "multipart/form-data; boundary=x")
        #expect(redacted?.contains("hush") == false)
        #expect(redacted?.contains("\r\n\r\ntext\r\n--x--\r\n") == true)
        #expect(
            redacted?.hasPrefix("--x\r\nContent-Disposition: form-data; name=\"password\"") == true)
        // Without its boundary, nothing is known.
        #expect(body(text, "multipart/form-data; boundary=other") == nil)
    }

    @Test(arguments: [
        ("a=1;password=hush;b=2", "a=1;password=REDACTED"),
        ("a=1;b=2&password=hush&c=3", "a=1;b=2&password=REDACTED&c=3"),
        ("user%5Bpassword%5D=hush", "user%5Bpassword%5D=REDACTED"), ("a=1&b", "a=1&b"),
        ("next=%2Fx%3Ftoken%3Dhush", "next=%2Fx%3Ftoken%3DREDACTED"), ("a=%26&b=+", "a=%26&b=+"),
    ])
    func forms(text: String, expected: String) {
        for type in ["application/x-www-form-urlencoded", "text/plain", nil] {
            if type != nil || !text.contains("+") { #expect(body(text, type) == expected) }
        }
    }

    // MARK: - Events and lines

    @Test(arguments: ["\n", "\r\n", "\r"])
    func eventsOverSeveralLinesHaveNoSecrets(end: String) {
        let first = [
            "event: a", "id: 1", "data: {", "data:  \"n\": 1,", "data: \"token\":",
            "data:\"hush\"}",
        ]
        let second = ["data: {\"token\":\"hush\"}", ": comment", "", "data: a\u{1}"]
        let text = (first + [""] + second + ["", ""]).joined(separator: end)
        for (type, mark) in [
            ("text/event-stream", ""), ("text/event-stream; charset=utf-8", "\u{FEFF}"), (nil, ""),
        ] as [(String?, String)] {
            let redacted = body(mark + text, type)
            #expect(redacted?.contains("hush") == false, "\(redacted ?? "")")
            let expected =
                ["event: a", "id: 1", #"data: {"n":1,"token":"REDACTED"}"#, ""]
                + [#"data: {"token":"REDACTED"}"#, ": comment", "", "data: a\u{1}", "", ""]
            #expect(redacted == mark + expected.joined(separator: end))
        }
    }

    @Test func brokenEventsAreReplaced() {
        let text =
            "event: a\ndata: {\"token\":\ndata: \"hush\"\n\ndata: {\"a\":1\ndata: x\n\ndata: b"
        let redacted = body(text, "text/event-stream")
        #expect(redacted?.contains("hush") == false)
        #expect(redacted?.hasPrefix("event: a\ndata: REDACTED\n\n") == true)
        #expect(redacted?.hasSuffix("\n\ndata: b") == true)
    }

    @Test(arguments: [
        "application/x-ndjson", "application/json-seq", "application/jsonl", nil, "text/plain",
    ])
    func documentsOverSeveralLinesHaveNoSecrets(type: String?) {
        let text = "{\n\"token\":\n\"hush\"\n}\n{\"a\":1}\r\n[1]{\"password\":\"hu}sh\"}\n"
        #expect(
            body(text, type)
                == "{\"token\":\"REDACTED\"}\n{\"a\":1}\r\n[1]{\"password\":\"REDACTED\"}\n")
        for broken in [
            "{\"a\":1}\n{\"token\":\"hush\"", "{\"a\":1}\n\"token\":\"hush\"}\n{\"b\":2}",
        ] {
            #expect(body(broken, type)?.contains("hush") != true)
        }
    }

    // MARK: - Other text

    @Test(arguments: [
        ("<input name=\"token\" value=\"1\">", "text/html"), ("{color:red}", "text/css"),
        ("password: b", "text/plain"), ("[info] started", "text/plain"), ("", nil),
        ("-- note", nil), ("{\"a\":1}", nil), ("abc==", nil), ("a b=c", "text/plain"),
        ("\"text\"", "text/plain"), ("{{name}}", "text/plain"),
    ])
    func otherTextIsUnchanged(text: String, type: String?) {
        #expect(body(text, type) == text)
    }

    @Test func timeIsLinear() {
        for text in [
            "a=", "=", "a=%61", "://", "a=\"", "a=\"\\\"", "a@", "{", "[", "\"", "{\"a\":",
            "data: {\n",
            "%", "--x\n", "a=%25", "\\u0041", "&;",
        ] {
            let long = String(repeating: text, count: 40_000 / text.utf8.count)
            for type in [
                nil, "application/x-ndjson", "text/event-stream", "multipart/mixed; boundary=x",
                "application/x-www-form-urlencoded",
            ] {
                _ = body(long, type)
            }
            _ = Self.rules.header("X-Data", long)
            _ = Self.rules.url("/?" + long)
        }
    }
}
