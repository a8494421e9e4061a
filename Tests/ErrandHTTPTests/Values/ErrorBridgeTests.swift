import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// `RequestError` as `NSError` and `URLError`.
struct ErrorBridgeTests {
    @Test func everyCodeHasAUniqueNumber() {
        let numbers = RequestError.Code.all.map(\.number)
        #expect(!numbers.contains(0))
        #expect(Set(numbers).count == numbers.count)
    }

    @Test func errorsBridgeToNSError() throws {
        let underlying = URLError(.timedOut)
        var error = RequestError(
            .timedOut, stage: .transport, "Too slow.", underlying: underlying, attempts: 2)
        let bridged = error.nsError
        #expect(bridged.domain == "Errand.RequestError" && bridged.code == 401)
        #expect(bridged.localizedDescription == error.description)
        #expect(bridged.userInfo[NSUnderlyingErrorKey] is URLError)
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
    func codesMapToURLErrorCodes(code: RequestError.Code, expected: URLError.Code) {
        #expect(RequestError(code, stage: .transport, "").urlError?.code == expected)
    }

    @Test func underlyingURLErrorIsKept() {
        let error = RequestError(
            .transportFailed, stage: .transport, "", underlying: URLError(.dnsLookupFailed))
        #expect(error.urlError?.code == .dnsLookupFailed)
        #expect(RequestError(.shapeMismatch, stage: .validate, "").urlError == nil)
    }

    @Test func descriptionsContainNoCredentials() {
        let secret = Authorization.basic(user: "ann", password: "hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])"] {
            #expect(!text.contains("hunter2") && !text.contains("ann"))
        }
    }
}
