import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

/// The `Basic` scheme: the examples of RFC 7617, and credentials that it cannot encode.
@Suite struct RFC7617Tests {
    private func header(_ user: String, _ password: String) async throws -> [String?] {
        var request = TransportRequest(url: try HTTPURL(parsing: "https://a.example/"))
        try await StandardAuthenticator.basic(user: user, password: password).apply(to: &request)
        var description = RequestDescription(endpoint: "Test", url: "https://a.example/")
        description.authorization = .basic(user: user, password: password)
        let built = try RequestBuilder().build(
            description, configuration: SharedConfiguration(Configuration()), sharedHeaders: [:],
            sharedArguments: [:],
            url: description.url)
        return [request.headers[.authorization], built.headers[.authorization]]
    }

    @Test(arguments: [
        ("Aladdin", "open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ("test", "123\u{A3}", "dGVzdDoxMjPCow=="), ("", "", "Og=="), ("a", "b:c", "YTpiOmM="),
    ])
    func section2ValidCredentials(user: String, password: String, encoded: String) async throws {
        #expect(try await header(user, password) == Array(repeating: "Basic \(encoded)", count: 2))
    }

    @Test(arguments: [("a:b", "c"), ("a\n", "c"), ("a", "c\n"), ("a", "c\r\n"), ("a", "\u{7F}")])
    func section2InvalidCredentialsAreRejected(user: String, password: String) async throws {
        let error = await #expect(throws: RequestError.self) { try await header(user, password) }
        #expect(error?.message.contains("RFC 7617") == true)
        var description = RequestDescription(endpoint: "Test", url: "https://a.example/")
        description.authorization = .basic(user: user, password: password)
        let other = #expect(throws: RequestError.self) {
            try RequestBuilder().build(
                description, configuration: SharedConfiguration(Configuration()),
                sharedHeaders: [:], sharedArguments: [:], url: description.url)
        }
        #expect(other?.code == .invalidHeader && other?.message.contains("RFC 7617") == true)
    }
}
