import CLibcurl
import ErrandCore
import Testing

@testable import ErrandCurl

/// Errors of other libcurl versions and other systems.
@Suite struct CurlFailureTests {
    private func context(
        _ text: String = "", _ policy: SecurityPolicy? = nil
    ) throws -> CurlFailure.Context {
        var request = TransportRequest(url: try .test("https://a/"))
        request.options.security = policy
        return CurlFailure.Context(
            request: request, text: text, isConnected: false)
    }

    @Test func unusableClientKeyIsClientCertificateRejected() throws {
        let text = "unable to set private key file: '/a.key' type PEM"
        let key = try CurlFailure.error(CURLE_BAD_FUNCTION_ARGUMENT, context: context(text))
        #expect(key.code == .clientCertificateRejected && key.stage == .build)
        #expect(!key.message.contains("/a.key"))
        let other = try CurlFailure.error(CURLE_BAD_FUNCTION_ARGUMENT, context: context("else"))
        #expect(other.code == .transportFailed)
    }

    /// The texts of libcurl 7.88 to 8.17, each with its own message.
    @Test(arguments: [
        ("Private key does not match the certificate public key", "does not belong"),
        (
            "could not parse PKCS12 file, check password, OpenSSL error "
                + "error:11800071:PKCS12 routines::mac verify failure", "password of the"
        ),
        (
            "could not parse PKCS12 file, check password, OpenSSL error "
                + "error:0308010C:digital envelope routines::unsupported", "cipher"
        ),
        ("error reading PKCS12 file '(memory blob)'", "not a PKCS#12 file"),
        (
            "could not load PEM client certificate from a.p12, OpenSSL error error:0480006C:PEM "
                + "routines::no start line, (no key found, wrong pass phrase, or wrong file format?)",
            "no certificate in PEM"
        ),
        ("unable to set private key file: '/a.key' type PEM", "missing, unusable or rejected"),
    ])
    func unusableClientCertificatesHaveOneMessageEach(text: String, part: String) throws {
        let error = try CurlFailure.error(CURLE_SSL_CERTPROBLEM, context: context(text))
        #expect(
            error.code == .clientCertificateRejected && error.message.contains(part), "\(error)")
    }

    @Test func keyWithoutItsPasswordIsNamed() throws {
        var policy = SecurityPolicy()
        policy.clientIdentity = .pem(
            certificate: "", key: "-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
        let text = "unable to set private key file: '(memory blob)' type PEM"
        let error = try CurlFailure.error(
            CURLE_BAD_FUNCTION_ARGUMENT, context: context(text, policy))
        #expect(error.message.contains("is encrypted"), "\(error)")
    }

    @Test func missingAuthoritiesMessageNamesPackage() throws {
        let none = try CurlFailure.error(CURLE_SSL_CACERT_BADFILE, context: context())
        #expect(none.code == .invalidConfiguration)
        #expect(none.message.contains("ca-certificates"))
        #expect(none.stage == .transport)
        var policy = SecurityPolicy()
        policy.authorities = ""
        let own = try CurlFailure.error(CURLE_SSL_CACERT_BADFILE, context: context("", policy))
        #expect(own.code == .invalidConfiguration)
        #expect(!own.message.contains("ca-certificates"))
        #expect(own.stage == .build)
    }

    @Test func absentFileIsNamedIfItMayBeTheCause() throws {
        var policy = SecurityPolicy()
        policy.authorityFile = "/nonexistent/root.pem"
        for result in [CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM] {
            let error = try CurlFailure.error(result, context: context("", policy))
            #expect(error.code == .invalidConfiguration && error.stage == .build)
            #expect(error.message.hasPrefix("Could not read root.pem, "))
            #expect((error.underlying as? CurlError)?.code == Int(result.rawValue))
        }
        let other = try CurlFailure.error(CURLE_COULDNT_CONNECT, context: context("", policy))
        #expect(other.code == .cannotConnect)
    }
}
