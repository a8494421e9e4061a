import ErrandHTTP
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandDownload

/// The order in which the requests of one download start.
@Suite final class DownloadSessionTests {
    private let folder: URL
    private let url = URI(scheme: "http", host: "a", path: "/f.bin")

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-session-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func session() async throws -> DownloadSession {
        let plan = DownloadPlan(
            destination: folder.appendingPathComponent("f.bin"),
            options: .init { $0.segments = .init(maximum: 4, minimumSize: 1000) })
        let destination = try DownloadDestination(plan, url: url)
        let session = DownloadSession(
            plan, destination, try PartFile(destination), url: url, began: .zero)
        try await session.begin(allowsResume: true)
        session.beginAttempt()
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
        for request in [first, second] { session.ended(request, .failure(lost), nil) }
        session.beginAttempt()
        let third = try #require(await session.next())
        let resumed = accept(third, 206, [.contentRange: "bytes 300-99999/100000"], session)
        #expect(resumed == [[300, 100_000]])
        await session.file.close(.discarded)
    }
}

extension DownloadSession {
    /// The decision about a response that sends the whole file.
    fileprivate var acceptanceOfWhole: Acceptance {
        Acceptance(action: .write(total: 100_000, validator: "\"v1\""), result: .success(true))
    }
}
