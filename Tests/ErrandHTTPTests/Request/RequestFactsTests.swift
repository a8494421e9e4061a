import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// Facts about a request belong to that request alone, not to a changed copy.
@Suite struct RequestFactsTests {
    private let correct: TransportRequest

    init() throws {
        correct = TransportRequest(url: try HTTPURL(parsing: "http://a.example/"))
        try correct.checkForMistakes()
    }

    @Test(
        arguments: [
            { $0.url = HTTPURL() }, { $0.method = HTTPMethod(rawValue: "A B") },
            { $0.headers[.proxyAuthorization] = "Basic eDp5" },
            {
                $0.method = .head
                $0.body = .data(Data([1]))
            }, { $0.timeouts.idle = .zero }, { $0.options.maximumHeadBytes = 0 },
        ] as [@Sendable (inout TransportRequest) -> Void])
    func changesAreChecked(_ change: @Sendable (inout TransportRequest) -> Void) throws {
        var request = correct
        change(&request)
        #expect(throws: RequestError.self) { try request.checkForMistakes() }
        #expect(throws: RequestError.self) { try request.checkForMistakes() }
        try correct.checkForMistakes()
    }

    @Test func onlyRequestsWithTheDefaultOptionsRememberTheirChecks() throws {
        #expect(correct.shared.has(.isCorrect))
        var request = correct
        request.headers[.eTag] = "x"
        #expect(!request.shared.has(.isCorrect))
        // A certificate of the options could expire.
        request.options.maximumHeadBytes = 1000
        for _ in 0..<2 { try request.checkForMistakes() }
        #expect(!request.shared.has(.isCorrect))
    }

    @Test func connectionFieldOfACopy() {
        #expect(!correct.hasConnectionField)
        var request = correct
        request.headers[.connection] = "close"
        #expect(request.hasConnectionField)
        #expect(!correct.hasConnectionField)
        request.headers = HTTPFields()
        #expect(!request.hasConnectionField)
    }
}
