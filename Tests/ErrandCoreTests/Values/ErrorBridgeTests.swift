import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

/// Rows ERR-1 to ERR-8.
struct ErrorBridgeTests {
    @Test func everyCodeHasANumberOfItsOwn() {
        let numbers = RequestError.Code.all.map(\.number)
        #expect(!numbers.contains(0))
        #expect(Set(numbers).count == numbers.count)
    }

    @Test func asAnNSError() throws {
        let beneath = URLError(.timedOut)
        var error = RequestError(
            .timedOut, stage: .transport, "Too slow.", underlying: beneath, attempts: 2)
        let made = error.nsError
        #expect(made.domain == "Errand.RequestError" && made.code == 401)
        #expect(made.localizedDescription == error.description)
        #expect(made.userInfo[NSUnderlyingErrorKey] is URLError)
        error.userMessage = "Bitte später noch einmal."
        #expect(error.nsError.localizedDescription == "Bitte später noch einmal.")
        #expect(error.localizedDescription == "Bitte später noch einmal.")
        #expect((error as any Error).localizedDescription == "Bitte später noch einmal.")
    }

    @Test(arguments: [
        (RequestError.Code.cancelled, URLError.Code.cancelled),
        (.timedOut, .timedOut), (.cannotFindHost, .cannotFindHost),
        (.unacceptableStatus, .badServerResponse),
        (.unacceptableContentType, .cannotDecodeContentData), (.offline, .notConnectedToInternet),
        (.invalidURL, .badURL), (.tooManyRedirects, .httpTooManyRedirects),
    ])
    func asAURLError(code: RequestError.Code, expected: URLError.Code) {
        #expect(RequestError(code, stage: .transport, "").urlError?.code == expected)
    }

    @Test func theTransportsOwnURLErrorIsKept() {
        let error = RequestError(
            .transportFailed, stage: .transport, "", underlying: URLError(.dnsLookupFailed))
        #expect(error.urlError?.code == .dnsLookupFailed)
        #expect(RequestError(.shapeMismatch, stage: .validate, "").urlError == nil)
    }

    @Test func credentialsAreNotInDescriptions() {
        let secret = Authorization.basic(user: "ann", password: "hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])"] {
            #expect(!text.contains("hunter2") && !text.contains("ann"))
        }
    }
}
