import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes

/// An error for a missing test precondition.
struct Missing: Error {}

extension HTTPURL {
    /// A URL of the form `http://host:port/path?query`, enough for tests.
    static func test(_ text: String) throws -> HTTPURL {
        guard let parts = URLComponents(string: text) else { throw Missing() }
        return HTTPURL(
            scheme: parts.scheme, host: parts.host, port: parts.port,
            path: parts.percentEncodedPath, query: parts.percentEncodedQuery)
    }
}

extension CurlTransport {
    /// Sends a request and waits for its end.
    func run(
        _ method: HTTPMethod = .get, _ url: String, headers: HTTPFields = [:],
        body: HTTPBody? = nil, change: (inout TransportRequest) -> Void = { _ in }
    ) async throws -> RecordingReceiver.Record {
        var request = TransportRequest(
            method: method, url: try HTTPURL.test(url), headers: headers, body: body)
        change(&request)
        let recorder = RecordingReceiver()
        _ = start(request, receiver: recorder)
        return try await recorder.ended()
    }
}
