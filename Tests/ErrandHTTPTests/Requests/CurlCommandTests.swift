import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// Requests as `curl` command lines.
struct CurlCommandTests {
    private func request(
        _ method: HTTPMethod = .get, _ url: String = "https://h/a?x=1&token=abc",
        headers: HTTPFields = [:],
        body: HTTPBody? = nil
    ) throws -> TransportRequest {
        TransportRequest(method: method, url: try URI(parsing: url), headers: headers, body: body)
    }

    @Test func secretsAreRedactedByDefault() throws {
        let command = try request(
            .post,
            headers: [.authorization: "Bearer s3cret", .accept: "*/*", .cookie: "sid=s3cret"],
            body: .string("password=s3cret")
        ).curlCommand()
        #expect(!command.contains("s3cret") && !command.contains("abc"))
        #expect(
            command == "curl --request POST --url 'https://h/a?x=1&token=<redacted>' "
                + "--header 'Authorization: <redacted>' --header 'Accept: */*' "
                + "--header 'Cookie: <redacted>' --compressed --data-raw '<body of 15 bytes>'")
    }

    @Test func secretsAreIncludedOnRequest() throws {
        let command = try request(
            .put, headers: [.authorization: "Bearer x", .via: ""],
            body: .string("it's\n$HOME \"quoted\"")
        ).curlCommand(redactsSecrets: false)
        #expect(
            command == "curl --request PUT --url 'https://h/a?x=1&token=abc' "
                + "--header 'Authorization: Bearer x' --header 'Via;' --compressed "
                + "--data-raw 'it'\\''s\n$HOME \"quoted\"'")
    }

    @Test func methodsAndBodiesBecomeOptions() throws {
        #expect(try request(.get, "http://h/").curlCommand() == "curl --url http://h/ --compressed")
        #expect(
            try request(.head, "http://h/").curlCommand()
                == "curl --head --url http://h/ --compressed")
        #expect(
            try request(.post, "http://h/", body: .file(URL(fileURLWithPath: "/tmp/a b")))
                .curlCommand()
                == "curl --request POST --url http://h/ --compressed --data-binary '@/tmp/a b'")
        #expect(
            try request(.post, "http://h/", body: .data(Data([0xFF]))).curlCommand(
                redactsSecrets: false)
                == "curl --request POST --url http://h/ --compressed --data-binary '@<file with the body'\\''s 1 bytes>'"
        )
        #expect(
            try request(.get, "http://h/", body: .multipart(MultipartBody())).curlCommand()
                == "curl --request GET --url http://h/ --compressed --data-binary @-")
    }
}
