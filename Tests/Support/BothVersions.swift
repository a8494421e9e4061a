package import Testing

/// Runs each test of a suite twice: with the version that TLS negotiates, and with requests over TLS that ask for
/// HTTP/1.1.
package struct BothVersions: SuiteTrait, TestTrait, TestScoping {
    /// Whether requests over TLS ask for HTTP/1.1.
    @TaskLocal package static var asksForHTTP11 = false

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for asksForHTTP11 in [false, true] {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                if asksForHTTP11 { issue.comments.append("HTTP/1.1 over TLS") }
                return issue
            }
            try await Self.$asksForHTTP11.withValue(asksForHTTP11) {
                try await naming.provideScope(
                    for: test, testCase: testCase, performing: function)
            }
        }
    }
}

extension Trait where Self == BothVersions {
    /// Runs each test with the negotiated version, and with HTTP/1.1 over TLS.
    package static var bothVersions: BothVersions { BothVersions() }
}
