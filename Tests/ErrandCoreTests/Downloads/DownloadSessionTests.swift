import ErrandHTTP
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandCore

/// The order in which the requests of one download start.
@Suite final class DownloadSessionTests {
    private let folder: URL
    private let url = HTTPURL(scheme: "http", host: "a", path: "/f.bin")

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-session-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func session() async throws -> DownloadSession {
        let plan = DownloadPlan(to: folder.appendingPathComponent("f.bin")) {
            ($0.segments, $0.minimumSegmentSize) = (4, 1000)
        }
        let destination = try DownloadDestination(plan, url: url)
        let session = DownloadSession(
            plan, destination, try PartFile(destination), url: url, began: .zero)
        try await session.begin(allowsResume: true)
        session.beginAttempt(at: url)
        return session
    }

    /// Accepts a response; returns what the session says about the file before other requests may start.
    private func accept(
        _ request: SegmentRequest, _ status: Int, _ fields: HTTPFields, _ session: DownloadSession
    ) -> [[Int64?]] {
        var calls: [[Int64?]] = []
        var headers = fields
        headers[.eTag] = "\"v1\""
        let acceptance = session.accept(
            request, status, headers, contentLength: status == 200 ? 100_000 : nil,
            isAccepted: true, final: url
        ) { offset, total in
            calls.append([offset, total])
            // Another request would add its bytes to the progress of an earlier attempt.
            #expect(session.state.withLock { $0.planner.next() } == .wait)
        }
        #expect((try? acceptance.result.get()) == true)
        return calls
    }

    @Test func otherRequestsStartAfterTheProgressIsKnown() async throws {
        let session = try await session()
        let first = try #require(await session.next())
        let whole = accept(first, 200, [:], session)
        #expect(whole == [[nil, 100_000]])
        let second = try #require(await session.next())
        #expect(second.start.offset == 50_000)
        // The other requests of the attempt do not decide about the progress.
        let part = accept(second, 206, [.contentRange: "bytes 50000-99999/100000"], session)
        #expect(part.isEmpty)
        _ = Data(count: 300).withUnsafeBytes { bytes in
            session.write(bytes, of: first, session.acceptanceOfWhole)
        }
        let lost = RequestError(.connectionLost, stage: .transport, "The connection was lost.")
        for request in [first, second] { #expect(end(request, lost, session) == nil) }
        session.beginAttempt(at: url)
        let third = try #require(await session.next())
        let resumed = accept(third, 206, [.contentRange: "bytes 300-99999/100000"], session)
        #expect(resumed == [[300, 100_000]])
        await session.file.close(.discarded)
    }

    private func end(
        _ request: SegmentRequest, _ error: RequestError, _ session: DownloadSession
    ) -> Duration? {
        session.ended(
            request, .failure(error), nil, RetryPolicy(maximumRetryAfter: .seconds(60)),
            now: Date(timeIntervalSince1970: 0))
    }

    private func refusal(_ retryAfter: String) -> RequestError {
        RequestError(
            .unacceptableStatus, stage: .validate, "Refused.",
            response: Response(
                status: .tooManyRequests, headers: [.retryAfter: retryAfter], body: .data(Data()),
                url: url))
    }

    /// A session with three requests, of which the last one was refused.
    private func refused(
        _ retryAfter: String
    ) async throws -> (session: DownloadSession, active: [SegmentRequest], pause: Duration?) {
        let session = try await session()
        var requests = [try #require(await session.next())]
        _ = accept(requests[0], 200, [:], session)
        for _ in 0..<2 { requests.append(try #require(await session.next())) }
        let pause = end(requests.removeLast(), refusal(retryAfter), session)
        return (session, requests, pause)
    }

    /// Loses the connection of a request after some bytes.
    private func loseConnection(_ request: SegmentRequest, _ session: DownloadSession) {
        #expect(session.state.withLock { $0.planner.admit(10_000, to: request.segment.id) } > 0)
        let lost = RequestError(.connectionLost, stage: .transport, "The connection was lost.")
        #expect(end(request, lost, session) == nil)
    }

    @Test(arguments: ["30", "Thu, 01 Jan 1970 00:00:30 GMT"])
    func refusalHoldsFurtherRequests(retryAfter: String) async throws {
        let (session, active, pause) = try await refused(retryAfter)
        #expect(pause == .seconds(30))
        loseConnection(active[1], session)
        #expect(session.state.withLock { $0.planner.next() } == .wait)
        session.endPause()
        #expect(try #require(await session.next()).start.offset == 60_000)
        await session.file.close(.discarded)
    }

    /// The attempt then ends with the refusal, about which the retry policy decides.
    @Test func longerPauseThanThatOfThePolicyEndsTheAttempt() async throws {
        let (session, active, pause) = try await refused("61")
        #expect(pause == nil)
        loseConnection(active[1], session)
        #expect(session.state.withLock { $0.planner.next() } == .wait)
        #expect(session.state.withLock { $0.end == nil })
        loseConnection(active[0], session)
        guard case .failed(let error) = session.takeEnd() else {
            Issue.record("The attempt has not failed.")
            return
        }
        #expect(error.response?.status == .tooManyRequests)
        #expect(await session.next() == nil)
        await session.file.close(.discarded)
    }

    @Test(arguments: ["0", "soon"])
    func refusalWithoutPauseHoldsNothing(retryAfter: String) async throws {
        let (session, _, pause) = try await refused(retryAfter)
        #expect(pause == nil && session.state.withLock { $0.refusal == nil })
        await session.file.close(.discarded)
    }
}

extension DownloadSession {
    /// The decision about a response that sends the whole file.
    fileprivate var acceptanceOfWhole: Acceptance {
        Acceptance(action: .write(total: 100_000, validator: "\"v1\""), result: .success(true))
    }
}
