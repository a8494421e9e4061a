import Testing

@testable import ErrandHTTP

@Suite struct RequestErrorDescriptionTests {
    private let url = "https://u:hunter2@api.example.com/issues/25?token=hunter2#hunter2"

    @Test func descriptionNamesTheRequest() throws {
        var error = RequestError(
            .unacceptableStatus, stage: .validate, "status 404 (expected 200..<300).", attempts: 3)
        #expect(
            error.description
                == "status 404 (expected 200..<300). After 3 attempts. (unacceptableStatus, validate)"
        )
        error.name(endpoint: "GetIssue", method: .get, url: try HTTPURL(parsing: url))
        #expect(error.url == "https://api.example.com/issues/25")
        #expect(
            error.description
                == "GetIssue GET https://api.example.com/issues/25: status 404 (expected 200..<300). "
                + "After 3 attempts. (unacceptableStatus, validate)")
        #expect(!String(reflecting: error).contains("hunter2"))
    }

    @Test func firstNameIsKept() throws {
        var error = RequestError.cancelled
        error.name(endpoint: "A", method: .get, url: HTTPURL())
        #expect(error.url == nil && error.description.hasPrefix("A GET: "))
        error.name(endpoint: "B", method: .post, url: try HTTPURL(parsing: url))
        #expect(error.endpoint == "A" && error.method == .get && error.url == nil)
    }

    @Test func previousErrorsAreBoundedAndFlat() {
        var error = RequestError(.timedOut, stage: .transport, "0")
        for number in 1...15 {
            var next = RequestError(.timedOut, stage: .transport, "\(number)")
            next.previousErrors = error.previousErrorsOfNextAttempt
            error = next
        }
        let messages = error.previousErrors.map(\.message)
        #expect(messages == (5...14).map { "\($0)" })
        #expect(error.previousErrors.allSatisfy { $0.previousErrors.isEmpty })
        #expect(messages.count == RequestError.maximumPreviousErrors)
    }
}
