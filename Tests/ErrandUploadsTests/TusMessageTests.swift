import ErrandHTTP
import Foundation
import HTTPTypes
import Testing

@testable import ErrandUploads

struct TusMessageTests {
    private func response(
        _ fields: [(String, String)], status: HTTPResponse.Status = .noContent,
        url: String = "https://a.test/files/?x=1"
    ) throws -> TusResponse {
        var headers = HTTPFields()
        for (name, value) in fields {
            headers.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return TusResponse(
            Response(status: status, headers: headers, url: try HTTPURL(parsing: url)),
            now: Date(timeIntervalSince1970: 0))
    }

    // MARK: - Responses

    @Test func fieldsOfOptionsAreParsed() throws {
        let it = try response([
            ("Tus-Version", "1.0.0, 0.2.2"), ("Tus-Extension", "creation,Expiration , checksum"),
            ("Tus-Checksum-Algorithm", "md5,SHA1"), ("Tus-Max-Size", "1073741824"),
        ])
        #expect(it.versions == ["1.0.0", "0.2.2"])
        #expect(it.extensions == ["creation", "expiration", "checksum"])
        #expect(it.algorithms == ["md5", "sha1"])
        #expect(it.maximumSize == 1 << 30)
    }

    @Test func expiryAndRetryAfterAreParsed() throws {
        let it = try response([
            ("Upload-Expires", "Wed, 25 Jun 2014 16:00:00 GMT"), ("Retry-After", "3"),
        ])
        #expect(it.expires == Date(timeIntervalSince1970: 1_403_712_000))
        #expect(it.retryAfter == .seconds(3))
        #expect(try response([("Upload-Expires", "soon")]).expires == nil)
    }

    @Test(arguments: ["", "-1", "+5", "5 ", "5, 5", "0x5", "9223372036854775808", "1e3", "٣"])
    func invalidOffsetIsNone(text: String) {
        #expect(TusResponse.number(text) == nil)
    }

    @Test func repeatedOffsetIsNone() throws {
        #expect(try response([("Upload-Offset", "5"), ("Upload-Offset", "5")]).offset == nil)
        #expect(try response([("Upload-Offset", "0")]).offset == 0)
    }

    @Test(arguments: [
        ("/files/24", "https://a.test/files/24"),
        ("24", "https://a.test/files/24"),
        ("https://b.test/24?k=v", "https://b.test/24?k=v"),
        ("https://user:secret@b.test/24#part", "https://b.test/24"),
        ("//c.test/24", "https://c.test/24"),
    ])
    func locationIsResolved(text: String, expected: String) throws {
        #expect(try response([("Location", text)], status: .created).location == expected)
    }

    @Test(arguments: ["http://a.test/24", "ftp://a.test/24", "https:///24", "javascript:alert(1)"])
    func unsafeLocationIsNone(text: String) throws {
        #expect(try response([("Location", text)], status: .created).location == nil)
    }

    @Test func locationMayBePlainIfTheServerIs() throws {
        let it = try response([("Location", "http://b.test/1")], url: "http://a.test/")
        #expect(it.location == "http://b.test/1")
    }

    /// Bytes that are not UTF-8 are escaped as they are (RFC 9110 §5.5).
    @Test func locationKeepsItsBytes() throws {
        let headers = HTTPFields([
            HTTPField(name: .location, value: Array("/jos".utf8) + [0xE9])
        ])
        let response = Response(
            status: .created, headers: headers, url: try HTTPURL(parsing: "https://a.test/"))
        let it = TusResponse(response, now: Date(timeIntervalSince1970: 0))
        #expect(it.location == "https://a.test/jos%E9")
    }

    // MARK: - Metadata

    @Test func metadataIsSortedAndInBase64() throws {
        let value = try TusMetadata.encode(["filename": "weiß.txt", "a": "", "is-draft": "1"])
        #expect(value == "a,filename d2Vpw58udHh0,is-draft MQ==")
        #expect(try TusMetadata.encode([:]) == nil)
    }

    @Test(arguments: ["", "a b", "a,b", "ä", "a\n", "\u{7F}"])
    func invalidKeyIsRefused(key: String) {
        let error = #expect(throws: RequestError.self) { try TusMetadata.encode([key: "secret"]) }
        #expect(error?.code == .invalidHeader)
        #expect(error?.message.contains("secret") == false)
    }

    // MARK: - Requests

    @Test func requestsCarryTheFieldsOfTheProtocol() throws {
        let base = TransportRequest(
            method: .post, url: try HTTPURL(parsing: "https://a.test/files/"),
            headers: [.contentType: "application/x-www-form-urlencoded", .userAgent: "t"])
        let messages = UploadMessages(base: base, metadata: "a")
        let version = try #require(HTTPField.Name("Tus-Resumable"))

        let options = try messages.request(for: .options)
        #expect(options.method == .options && options.headers[version] == nil)

        let create = try messages.request(for: .create(length: 7))
        #expect(create.method == .post && create.url == base.url)
        #expect(create.headers[tus: "Upload-Length"] == "7")
        #expect(create.headers[tus: "Upload-Metadata"] == "a")
        #expect(create.body?.knownLength == 0 && create.headers[.contentType] == nil)

        let head = try messages.request(for: .offset(url: "https://a.test/1"))
        #expect(head.method == .head && head.body == nil && head.url.string == "https://a.test/1")

        let append = try messages.request(
            for: .append(url: "https://a.test/1", .init(offset: 3, length: 4)),
            body: .string("abcd"), checksum: "sha1 x")
        #expect(append.method == .patch && append.headers[tus: "Upload-Offset"] == "3")
        #expect(append.headers[.contentType] == "application/offset+octet-stream")
        #expect(append.headers[tus: "Upload-Checksum"] == "sha1 x")
        #expect(append.headers[tus: "Upload-Metadata"] == nil)

        let remove = try messages.request(for: .terminate(url: "https://a.test/1"))
        #expect(remove.method == .delete)
        for it in [create, head, append, remove] {
            #expect(it.headers[version] == "1.0.0" && it.headers[.userAgent] == "t")
        }
    }
}
