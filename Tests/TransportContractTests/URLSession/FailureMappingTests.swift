import ErrandCore
import Foundation
import Testing

@testable import ErrandURLSession

/// Mapping of URLSession's errors: by libcurl's message first, then by code.
@Suite("FailureMapping")
struct FailureMappingTests {
    @Test(arguments: [
        (-1004, "Could not connect to the server.", RequestError.Code.cannotConnect),
        (-1003, "Could not resolve host: nowhere.invalid", .cannotFindHost),
        (-1005, "The network connection was lost.", .connectionLost),
        (-1011, "Empty reply from server", .connectionLost),
        (-1001, "The request timed out.", .timedOut),
        (-999, "cancelled", .cancelled),
        (-1, "transfer closed with 3 bytes remaining to read", .truncatedBody),
        (-1, "SSL certificate problem: self-signed certificate", .certificateRejected),
        (
            -1, "SSL: no alternative certificate subject name matches target host name 'a'",
            .certificateRejected
        ),
        (-1, "SSL certificate problem: certificate has expired", .certificateRejected),
        (-1, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL", .secureConnectionFailed),
        (
            -1, "error:0A00045C:SSL routines::tlsv13 alert certificate required",
            .clientCertificateRejected
        ),
        (
            -1, "Error while processing content unencoding: invalid stored block",
            .badContentEncoding
        ),
        (-1, "Unrecognized content encoding type", .badContentEncoding),
        (-1, "Illegal or missing hexadecimal sequence in chunked-encoding", .badServerResponse),
        (-1, "Failed writing header", .badServerResponse),
        (-1, "Received HTTP/0.9 when not allowed", .badServerResponse),
        (-1, "CONNECT tunnel failed, response 407", .proxyFailed),
        (-1, "necessary data rewind wasn't possible", .connectionLost),
        (-1, "something new", .transportFailed),
        (-1000, "bad URL", .invalidURL),
    ])
    func errorsAreClassified(code: Int, text: String, expected: RequestError.Code) {
        #expect(FailureMapping.classify(code: code, text: text) == expected)
    }

    @Test func underlyingErrorIsKept() {
        let underlying = NSError(
            domain: NSURLErrorDomain, code: -1004,
            userInfo: [NSLocalizedDescriptionKey: "refused"])
        let error = FailureMapping.error(for: underlying)
        #expect(error.code == .cannotConnect && error.stage == .transport)
        #expect((error.underlying as? NSError)?.code == -1004)
        #expect(error.message.contains("refused"))
    }
}
