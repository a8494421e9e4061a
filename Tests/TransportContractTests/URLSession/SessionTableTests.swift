import ErrandHTTP
import TestSupport
import Testing

@testable import ErrandURLSession

/// The sessions of security policies.
@Suite("Sessions of policies", .limited)
struct SessionTableTests {
    @Test func keysKeepTheirValues() {
        var table = SessionTable<SharedSecurity?, Int>(limit: 3)
        #expect(table.value(for: nil) == nil)
        #expect(table.insert(1, for: nil) == nil)
        #expect(table.insert(2, for: SharedSecurity(SecurityPolicy())) == nil)
        var strict = SecurityPolicy()
        strict.minimumVersion = .tls13
        #expect(table.insert(3, for: SharedSecurity(strict)) == nil)
        #expect(table.value(for: nil) == 1)
        // Equal policies share a value.
        #expect(table.value(for: SharedSecurity(SecurityPolicy())) == 2)
        #expect(table.value(for: SharedSecurity(strict)) == 3)
    }

    @Test func leastRecentlyUsedMakesRoom() {
        var table = SessionTable<String, Int>(limit: 2)
        _ = table.insert(1, for: "a")
        _ = table.insert(2, for: "b")
        #expect(table.value(for: "a") == 1)
        #expect(table.insert(3, for: "c") == 2)
        #expect(table.value(for: "b") == nil)
        #expect(table.insert(4, for: "a") == 1)
        #expect(table.removeAll() == [3, 4])
        #expect(table.value(for: "a") == nil)
    }
}

/// Errors of client certificates on Apple platforms.
@Suite("Failures of PKCS#12", .limited)
struct PKCS12FailureTests {
    @Test(arguments: [
        (-25293 as Int32, "password of the client certificate is wrong"), (-25264, "password"),
        (-26275, "not a PKCS#12 file"), (-50, "could not be imported: a text (-50)"),
    ])
    func resultHasAMessage(status: Int32, message: String) {
        let error = PKCS12Failure(status: status).error("a text")
        #expect(error.code == .clientCertificateRejected)
        #expect(error.message.contains(message))
    }
}
