import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// Downloads whose URL expires or changes between starts.
@Suite(.limited)
struct RefreshedURLTests {
    let fixture: DownloadStepFixture
    let content = DownloadStepFixture.bytes(100_000)

    init() throws { fixture = try DownloadStepFixture() }

    private func refresh(
        after codes: Set<Int> = [401, 403, 404, 410],
        _ refreshedURL: @escaping @Sendable (RequestError) async throws -> String?
    ) {
        fixture.plan {
            $0.urlRefresh = refreshedURL
            $0.urlRefreshStatuses = codes
        }
    }

    private var urls: [String] { fixture.server.requests.map(\.url.string) }

    private func interrupt(at offset: Int) async {
        fixture.server.change { $0.cuts = [offset] }
        _ = await fixture.runToError()
    }

    @Test(arguments: [401, 403, 404, 410])
    func expiredURLIsReplaced(status: Int) async throws {
        await interrupt(at: 40_000)
        fixture.server.change { $0.status = { number, _ in number == 2 ? status : nil } }
        let statuses = Mutex<[Int?]>([])
        refresh { error in
            statuses.withLock { $0.append(error.response?.statusCode) }
            return "http://a/signed?key=2"
        }
        let response = try await fixture.run()
        #expect(urls == ["http://a/f.bin", "http://a/f.bin", "http://a/signed?key=2"])
        #expect(fixture.server.ranges == ["-", "bytes=40000-", "bytes=40000-"])
        #expect(statuses.withLock { $0 } == [status])
        #expect(response.downloadedFile?.resumedOffset == 40_000)
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func otherStatusesAreNotRefreshed() async {
        refresh(after: [410]) { _ in "http://a/signed" }
        fixture.server.change { $0.status = { number, _ in number == 1 ? 403 : nil } }
        #expect(await fixture.runToError()?.response?.statusCode == 403)
        #expect(fixture.server.requests.count == 1)
    }

    @Test func missingURLEndsTheDownload() async {
        refresh { _ in nil }
        fixture.server.change { $0.status = { _, _ in 410 } }
        #expect(await fixture.runToError()?.response?.statusCode == 410)
        #expect(fixture.server.requests.count == 1)
    }

    @Test func errorOfTheSourceIsTheResult() async {
        struct Failure: Error {}
        refresh { _ in throw Failure() }
        fixture.server.change { $0.status = { _, _ in 410 } }
        let error = await fixture.runToError()
        #expect(error?.code == .rejected && error?.underlying is Failure)
    }

    @Test func invalidURLIsAnError() async {
        refresh { _ in "http://[" }
        fixture.server.change { $0.status = { _, _ in 410 } }
        #expect(await fixture.runToError()?.code == .invalidURL)
    }

    @Test func numberOfURLsWithoutBytesIsLimited() async {
        refresh { _ in "http://a/signed" }
        fixture.server.change { $0.status = { _, _ in 403 } }
        #expect(await fixture.runToError()?.response?.statusCode == 403)
        #expect(fixture.server.requests.count == 6)
    }

    @Test func credentialsAreNotSentToAnotherOrigin() async throws {
        refresh { _ in "http://b/f.bin" }
        fixture.server.change { $0.status = { number, _ in number == 1 ? 403 : nil } }
        try await fixture.run { $0.headers[.authorization] = "secret" }
        let requests = fixture.server.requests
        #expect(requests.map { $0.headers[.authorization] } == ["secret", nil])
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func nextAttemptUsesTheLastURL() async throws {
        fixture.describe { $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero) }
        refresh { _ in "http://a/signed" }
        fixture.server.change {
            $0.status = { number, _ in number == 1 ? 403 : nil }
            $0.cut = { number in number == 2 ? 40_000 : nil }
        }
        try await fixture.run()
        #expect(urls == ["http://a/f.bin", "http://a/signed", "http://a/signed"])
        #expect(fixture.server.ranges.last == "bytes=40000-")
    }

    @Test func anotherURLMustConfirmTheVersion() async throws {
        await interrupt(at: 40_000)
        fixture.server.change { $0.status = { number, _ in number == 2 ? 403 : nil } }
        let part =
            (206, [.contentRange: "bytes 40000-99999/100000"] as HTTPFields, Data(count: 60_000))
        refresh { [server = fixture.server] _ in
            // A 206 without a validator would do for the same URL.
            server.change { $0.scripted = [part] }
            return "http://a/mirror"
        }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=40000-", "bytes=40000-", "-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    // MARK: - Another URL at the next start

    private func runAgain(query: String?, path: String = "/f.bin", host: String = "a") async throws
    {
        try await fixture.run {
            $0.url = HTTPURL(scheme: "http", host: host, path: path, query: query)
        }
    }

    @Test func queryIsIgnoredByTheRule() async throws {
        for (rule, range) in [
            (DownloadPlan.URLRule.identical, "-"), (.ignoringQuery, "bytes=40000-"),
            (.any, "bytes=40000-"),
        ] {
            fixture.plan { $0.resumableURL = rule }
            await interrupt(at: 40_000)
            try await runAgain(query: "expires=2")
            #expect(fixture.server.ranges.last == range)
            #expect(haveSameBytes(fixture.content(), content))
        }
    }

    @Test func anotherPathNeedsTheRuleForAnyURL() async throws {
        for (rule, range) in [
            (DownloadPlan.URLRule.ignoringQuery, "-"), (.any, "bytes=40000-"),
        ] {
            fixture.plan { $0.resumableURL = rule }
            await interrupt(at: 40_000)
            try await runAgain(query: nil, path: "/mirror/f.bin", host: "b")
            #expect(fixture.server.ranges.last == range)
        }
    }

    @Test func partInAFolderHasOneNameForAllQueries() async throws {
        fixture.plan {
            $0.destination = $0.destination.deletingLastPathComponent()
            $0.resumableURL = .ignoringQuery
        }
        fixture.server.change { $0.cuts = [40_000] }
        _ = try? await runAgain(query: "expires=1")
        try await runAgain(query: "expires=2")
        #expect(fixture.server.ranges == ["-", "bytes=40000-"])
        #expect(fixture.names == ["f.bin"])
    }

    @Test func anotherURLWithAnotherTotalStartsAgain() async throws {
        fixture.plan { $0.resumableURL = .any }
        await interrupt(at: 40_000)
        let grown = DownloadStepFixture.bytes(120_000)
        fixture.server.change { $0.content = grown }
        try await runAgain(query: nil, path: "/other")
        #expect(fixture.server.ranges == ["-", "bytes=40000-", "-"])
        #expect(haveSameBytes(fixture.content(), grown))
    }
}
