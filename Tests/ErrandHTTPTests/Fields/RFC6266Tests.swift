import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// Valid and invalid `Content-Disposition` fields, and the file names that they suggest.
@Suite struct RFC6266Tests {
    @Test(arguments: [
        (#"attachment; filename="a.txt""#, "a.txt"), (#"inline; filename="a.txt""#, "a.txt"),
        (#"ATTACHMENT; FILENAME="a.txt""#, "a.txt"), (#"attachment; filename=a.txt"#, "a.txt"),
        (#"attachment ; filename = "a.txt" ;"#, "a.txt"),
        (#"attachment;filename=a.txt ;"#, "a.txt"),
        (#"attachment; filename="a\b.txt""#, "ab.txt"),
        (#"attachment; filename="\"a\" b.txt""#, #""a" b.txt"#),
        (#"attachment; filename="a; b=c.txt""#, "a; b=c.txt"),
        (#"attachment; x="y"; filename="a.txt""#, "a.txt"),
        (#"attachment; x="\"\\"; filename="a.txt""#, "a.txt"),
        (#"attachment; filename='a.txt'"#, "'a.txt'"), (#"foo; filename=a.txt"#, "a.txt"),
        (#"attachment; filename="a%41.txt""#, "a%41.txt"),
        (#"attachment; filename="ä.txt""#, "ä.txt"),
        (#"attachment; filename="a.txt"; filename="b.txt""#, "a.txt"),
        (#"attachment; filename*=UTF-8''%e2%82%ac%20b.txt"#, "€ b.txt"),
        (#"attachment; filename*=utf-8'en'%E2%82%AC.txt"#, "€.txt"),
        (#"attachment; filename*=ISO-8859-1''%e4.txt"#, "ä.txt"),
        (#"attachment; filename*=UTF-8''a%2541.txt"#, "a%41.txt"),
        (#"attachment; filename* = UTF-8''a.txt"#, "a.txt"),
        (#"attachment; filename="a.txt"; filename*=UTF-8''b.txt"#, "b.txt"),
        (#"attachment; filename*=UTF-8''b.txt; filename="a.txt""#, "b.txt"),
        (#"attachment; filename="a.txt"; filename*=UTF-8''%ff"#, "a.txt"),
        (#"attachment; filename="a.txt"; filename*=koi8-r''b"#, "a.txt"),
        (#"attachment; filename="a.txt"; filename*="UTF-8''b.txt""#, "a.txt"),
    ])
    func section41ValidFilenames(field: String, name: String) {
        #expect(ContentDisposition(field)?.filename == name)
    }

    @Test(arguments: [
        "", ";", "attachment", "inline;", #""attachment""#, "filename=a.txt",
        #"attachment; filename=="a""#,
        "attachment; filename=a b.txt", "attachment; filename=a,b.txt", "attachment; filename=",
        "attachment; filename=a[1].txt", #"attachment; filename="a.txt".txt"#,
        #"attachment; filename="a.txt"#, #"attachment; filename="a.txt\"#,
        #"attachment; filename=a"b;c"d"#,
        "attachment; ;filename=a.txt", "attachment, filename=a.txt", "attachment; xfilename=a.txt",
        "attachment; filename*0=a; filename*1=b", "attachment; filename*=''a.txt",
        "attachment; filename*=UTF-8'a.txt", "attachment; filename*=UTF-8''%e",
        "attachment; filename*=UTF-8''%zz",
        "attachment; filename *=UTF-8''a.txt", "attachment filename=a.txt",
        "attachment; /filename=a.txt",
    ])
    func section41FieldsWithoutAValidFilename(field: String) {
        #expect(ContentDisposition(field)?.filename == nil)
    }

    /// RFC 6266 §4.3 and §7: a suggested name contains no path.
    @Test(arguments: [
        (#"attachment; filename="/etc/passwd""#, "passwd"),
        (#"attachment; filename="../../a.txt""#, "a.txt"),
        (#"attachment; filename="C:\\dir\\a.txt""#, "a.txt"),
        (#"attachment; filename="..""#, "map.zip"),
        (#"attachment; filename="a/""#, "map.zip"), (#"attachment; filename="""#, "map.zip"),
        (#"attachment; filename*=UTF-8''..%2Fa.txt"#, "a.txt"),
        (#"attachment; filename*=UTF-8''a%00b%0A.txt"#, "a_b_.txt"),
        (#"attachment; filename=""#, "map.zip"), ("attachment", "map.zip"),
    ])
    func section7SuggestedNamesAreSafe(field: String, name: String) throws {
        let response = Response(
            status: .ok, headers: [.contentDisposition: field],
            url: try HTTPURL(parsing: "https://a.example/maps/map.zip?x=/y"))
        #expect(response.suggestedFilename == name)
    }

    @Test func missingFieldSuggestsTheNameOfTheURL() throws {
        for (url, name) in [
            ("https://a.example/b%20c.txt", "b c.txt"), ("https://a.example/", "download"),
            ("https://a.example/..%2Fx", "_x"),
        ] {
            #expect(Response(status: .ok, url: try HTTPURL(parsing: url)).suggestedFilename == name)
        }
    }
}
