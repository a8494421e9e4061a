import CLibcurl
import ErrandCore
import Testing

@testable import ErrandCurl

/// Errors of other libcurl versions and other systems.
@Suite struct CurlFailureTests {
    private func context(_ text: String = "", hasAuthorities: Bool = false) -> CurlFailure.Context {
        CurlFailure.Context(
            text: text, host: "a", isConnected: false, isHeadComplete: false, hasHeadBegun: false,
            proxyResponse: 0, hasAuthorities: hasAuthorities)
    }

    @Test func unusableClientKeyIsClientCertificateRejected() {
        let text = "unable to set private key file: '/a.key' type PEM"
        let key = CurlFailure.error(CURLE_BAD_FUNCTION_ARGUMENT, context: context(text))
        #expect(key.code == .clientCertificateRejected && key.stage == .build)
        #expect(!key.message.contains("/a.key"))
        let other = CurlFailure.error(CURLE_BAD_FUNCTION_ARGUMENT, context: context("else"))
        #expect(other.code == .transportFailed)
    }

    @Test func missingAuthoritiesMessageNamesPackage() {
        let none = CurlFailure.error(CURLE_SSL_CACERT_BADFILE, context: context())
        #expect(none.code == .invalidConfiguration)
        #expect(none.message.contains("ca-certificates"))
        #expect(none.stage == .transport)
        let own = CurlFailure.error(
            CURLE_SSL_CACERT_BADFILE, context: context(hasAuthorities: true))
        #expect(own.code == .invalidConfiguration)
        #expect(!own.message.contains("ca-certificates"))
        #expect(own.stage == .build)
    }
}
