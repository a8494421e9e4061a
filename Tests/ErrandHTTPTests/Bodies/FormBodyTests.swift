import Foundation
import Testing

@testable import ErrandHTTP

/// Arguments as a body of their own.
@Suite struct FormBodyTests {
    @Test func argumentsAreTheBody() throws {
        let encoding = ArgumentEncoding(arrays: .repeated, nulls: .omit, bools: .literal)
        let body = HTTPBody.form(
            ["name": "a b&c", "tags": ["x", "y"], "none": nil, "on": true], encoding: encoding)
        guard case .data(let data) = body.storage else {
            Issue.record("The body is not ready.")
            return
        }
        #expect(String(decoding: data, as: UTF8.self) == "name=a%20b%26c&tags=x&tags=y&on=true")
        #expect(body.contentType?.hasPrefix("application/x-www-form-urlencoded") == true)
    }

    @Test func whatCannotBeEncodedFailsTheRequest() {
        guard case .invalid(let error) = HTTPBody.form(["a": Double.nan]).storage else {
            Issue.record("The body is valid.")
            return
        }
        #expect(error.code == .invalidArguments)
    }
}
