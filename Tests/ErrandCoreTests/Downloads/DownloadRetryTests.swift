import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// Downloads that continue within one start, under the retry policy.
@Suite(.limited)
struct DownloadRetryTests {
    let fixture: DownloadStepFixture
    let content = DownloadStepFixture.bytes(100_000)

    init() throws {
        fixture = try DownloadStepFixture()
        fixture.describe { $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero) }
    }

    @Test func progressStartsTheCountOfAttemptsAgain() async throws {
        fixture.server.change { $0.cuts = Array(repeating: 5000, count: 19) }
        fixture.plan { $0.sha256 = SHA256.hex(content) }
        let response = try await fixture.run()
        #expect(response.attempts == 20)
        #expect(fixture.server.ranges == ["-"] + (1..<20).map { "bytes=\($0 * 5000)-" })
        #expect(
            fixture.server.requests.allSatisfy {
                ($0.headers[.ifRange] == nil) == ($0.headers[.range] == nil)
            })
        #expect(haveSameBytes(fixture.content(), content))
        #expect(fixture.names == ["f.bin"])
    }

    @Test func attemptsWithoutNewBytesAreSpent() async {
        fixture.server.change { $0.cuts = [0, 40_000, 0, 0, 0, 0] }
        let error = await fixture.runToError()
        #expect(error?.code == .connectionLost && error?.attempts == 4)
        #expect(
            fixture.server.ranges == ["-", "-", "bytes=40000-", "bytes=40000-"])
    }

    /// A server that always sends other versions cannot keep a request going.
    @Test func offsetBelowAnEarlierOneIsNoProgress() async {
        fixture.server.change { state in
            state.cuts = [10_000, 5000, 9000, 5000, 5000]
        }
        let number = Mutex(0)
        fixture.server.change {
            $0.onBody = { [weak server = fixture.server] in
                let number = number.withLock { number in
                    number += 1
                    return number
                }
                server?.change { $0.headers = [.eTag: "\"v\(number + 1)\""] }
            }
        }
        #expect(await fixture.runToError()?.attempts == 3)
        #expect(fixture.server.ranges == ["-", "bytes=10000-", "bytes=5000-"])
    }

    @Test func withoutAPolicyNothingIsRepeated() async {
        fixture.describe { $0.retryPolicy = RetryPolicy(maximumAttempts: 1) }
        fixture.server.change { $0.cuts = [5000] }
        #expect(await fixture.runToError()?.attempts == 1)
    }

    @Test func offsetAndDurationCountFromTheStart() async throws {
        fixture.server.change { $0.cuts = [30_000, 20_000, 10_000, 10_000] }
        fixture.describe { $0.retryPolicy = nil }
        _ = await fixture.runToError()
        fixture.describe { $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero) }
        fixture.server.change {
            $0.onBody = { [clock = fixture.clock] in clock.advance(by: .seconds(1)) }
        }
        let file = try #require(try await fixture.run().downloadedFile)
        #expect(file.resumedOffset == 30_000 && file.bytes == 100_000)
        #expect(file.duration == .seconds(4))
        #expect(fixture.server.ranges.last == "bytes=70000-")
    }

    @Test func anotherVersionHasNoResumedBytes() async throws {
        fixture.server.change { $0.cuts = [30_000, 20_000] }
        fixture.describe { $0.retryPolicy = nil }
        _ = await fixture.runToError()
        fixture.describe { $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero) }
        fixture.server.change { $0.headers = [.eTag: "\"v2\""] }
        let file = try #require(try await fixture.run().downloadedFile)
        #expect(file.resumedOffset == 0)
        #expect(fixture.server.ranges == ["-", "bytes=30000-", "bytes=20000-"])
    }

    /// Between two attempts the file stays locked.
    @Test func anotherDownloadWaitsForTheLastAttempt() async throws {
        let codes = Mutex<[RequestError.Code?]>([])
        let other = try DownloadStepFixture(in: fixture.directory.path)
        fixture.server.change { $0.cuts = [5000] }
        fixture.describe {
            $0.sending.retryDecider = { _ in
                do {
                    let destination = try DownloadDestination(
                        DownloadPlan(to: other.destination), url: HTTPURL())
                    _ = try PartFile(destination)
                } catch {
                    codes.withLock { $0.append((error as? RequestError)?.code) }
                }
                return .asPolicy
            }
        }
        try await fixture.run()
        #expect(codes.withLock { $0 } == [.fileFailed])
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test(arguments: [(true, true), (false, false), (nil, false)] as [(Bool?, Bool)])
    func cancellationDecidesAboutThePart(discards: Bool?, isRemoved: Bool) async throws {
        fixture.server.change { $0.cuts = [5000] }
        let task = fixture.task()
        task.discardsPart = discards
        fixture.server.change { $0.onChunk = { _ in task.scope.cancel() } }
        let request = TransportRequest(url: HTTPURL(scheme: "http", host: "a", path: "/f.bin"))
        await #expect(throws: RequestError.self) {
            try await fixture.steps(PipelineRequest(task: task, request: request))
        }
        #expect(fixture.names.isEmpty == isRemoved)
    }
}
