import ErrandCore
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

    /// FoundationNetworking reports most failures as -1.
    @Test(arguments: [
        (RequestError.Code.badServerResponse, -1011), (.badContentEncoding, -1016),
        (.truncatedBody, -1005), (.connectionLost, -1005), (.certificateRejected, -1202),
        (.proxyFailed, -1004), (.transportFailed, -1),
    ])
    func codesOfURLErrorsAreTheSameForEveryTransport(code: RequestError.Code, number: Int) {
        let reported = URLError(
            .unknown, userInfo: [NSURLErrorFailingURLErrorKey: URL(fileURLWithPath: "/x")])
        for underlying in [nil, reported] {
            let error = RequestError(code, stage: .transport, "What.", underlying: underlying)
            #expect(error.urlError?.code.rawValue == number)
            #expect(error.urlError?.failingURL == underlying?.failingURL)
        }
    }

    @Test func underlyingURLErrorIsKept() throws {
        var error = RequestError(
            .transportFailed, stage: .transport, "", underlying: URLError(.dnsLookupFailed))
        #expect(error.urlError?.code == .dnsLookupFailed)
        error.code = .cannotFindHost
        let bridged = try #require(error.urlError)
        #expect(bridged.code == .cannotFindHost)
        #expect((bridged.userInfo[NSUnderlyingErrorKey] as? URLError)?.code == .dnsLookupFailed)
        // Errors of hooks have no code of their own.
        error.code = .adaptationFailed
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
