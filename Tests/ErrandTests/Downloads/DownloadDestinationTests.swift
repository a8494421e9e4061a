import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A download request without a destination.
@Suite(.limited) struct DownloadDestinationTests {
    private final class WithoutDestination: DownloadRequest {
        override var url: EndpointURL { "map.zip" }
    }

    @Test func missingDestinationFailsBeforeSendingOrWriting() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in .json("{}") }
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(WithoutDestination()).send()
        }
        #expect(error?.code == .fileFailed)
        #expect(error?.message.contains("Override destination") == true)
        #expect(fixture.transport.requests.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: "map.zip"))
    }
}
