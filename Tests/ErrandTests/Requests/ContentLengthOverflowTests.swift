import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCore

/// Sums of announced content lengths saturate instead of overflowing.
@Suite(.limited) struct ContentLengthOverflowTests {
    @Test func sumsOfByteCountsSaturate() {
        #expect(TransferProgress.sum(.max, 1) == .max)
        #expect(TransferProgress.sum(2, 3) == 5)
        var progress = TransferProgress()
        progress.totalBytesToSend = 7
        progress.totalBytesToReceive = .max
        progress.bytesReceived = .max
        progress.bytesSent = 7
        #expect(progress.fractionCompleted == 1)
        var bytes = MemberBytes()
        bytes.take(progress, of: 0)
        bytes.take(progress, of: 1)
        let sum = bytes.sum(ofMembers: 2)
        #expect(sum.totalBytesToReceive == .max && sum.bytesReceived == .max)
        #expect(sum.bytesSent == 14)
    }

    @Test func batchOfResponsesWithHugeContentLengthEndsWithErrors() async throws {
        let server = LoopbackServer()
        server.otherwise { _ in
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nx")
        }
        try await server.start()
        let agent = RequestAgent(
            configuration: Configuration(baseURL: server.baseURL), transport: CurlTransport())
        let members = (0..<3).map { _ in Plain("huge") }
        _ = try await BatchRequest(members, policy: .collectAll).send(on: agent)
        #expect(members.allSatisfy { $0.error?.code == .truncatedBody })
        await server.stop()
    }
}
