import ErrandCurl
import Testing

/// Runs each test of a suite twice: with libcurl's HTTP/1.1, and with the transport's own.
///
/// The tests create their transport with `CurlTransport.tested()`.
struct BothEngines: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal static var current = CurlConfiguration().http1Engine

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for engine in [CurlConfiguration.HTTP1Engine.libcurl, .own] {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("HTTP/1.1 engine: \(engine)")
                return issue
            }
            try await Self.$current.withValue(engine) {
                try await naming.provideScope(for: test, testCase: testCase, performing: function)
            }
        }
    }
}

extension Trait where Self == BothEngines {
    /// Runs each test with both implementations of HTTP/1.1.
    static var bothEngines: BothEngines { BothEngines() }
}

extension CurlTransport {
    /// A transport with the implementation of HTTP/1.1 that is under test; see ``BothEngines``.
    static func tested(_ change: (inout CurlConfiguration) -> Void = { _ in }) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.http1Engine = BothEngines.current
        change(&configuration)
        return CurlTransport(configuration: configuration)
    }
}
