package import ErrandCurl
package import Testing

/// Runs each test of a suite twice: with libcurl's HTTP/1.1, and with the transport's own.
///
/// The tests create their transport with `CurlTransport.tested()`.
package struct BothEngines: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal package static var current = CurlConfiguration().http1Engine
    /// Whether requests over TLS ask for HTTP/1.1, so that the engine carries them.
    @TaskLocal package static var asksForHTTP11 = false

    /// Whether each test runs a third time, with HTTP/1.1 over TLS.
    package var includesHTTP11 = false

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        var runs: [(CurlConfiguration.HTTP1Engine, asksForHTTP11: Bool)] = [
            (.libcurl, false), (.own, false),
        ]
        if includesHTTP11 { runs.append((.own, true)) }
        for (engine, asksForHTTP11) in runs {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                let version = asksForHTTP11 ? ", HTTP/1.1 over TLS" : ""
                issue.comments.append("HTTP/1.1 engine: \(engine)\(version)")
                return issue
            }
            try await Self.$current.withValue(engine) {
                try await Self.$asksForHTTP11.withValue(asksForHTTP11) {
                    try await naming.provideScope(
                        for: test, testCase: testCase, performing: function)
                }
            }
        }
    }
}

extension Trait where Self == BothEngines {
    /// Runs each test with both implementations of HTTP/1.1.
    package static var bothEngines: BothEngines { BothEngines() }
    /// Runs each test with both implementations, and with HTTP/1.1 over TLS.
    package static var bothEnginesAndTLS: BothEngines { BothEngines(includesHTTP11: true) }
}

extension CurlTransport {
    /// A transport with the implementation of HTTP/1.1 that is under test; see ``BothEngines``.
    package static func tested(_ change: (inout CurlConfiguration) -> Void = { _ in })
        -> CurlTransport
    {
        var configuration = CurlConfiguration()
        configuration.http1Engine = BothEngines.current
        change(&configuration)
        return CurlTransport(configuration: configuration)
    }
}
