import Errand
import ErrandTesting
import Foundation
import Testing

/// A download that does not say where to (row DL-1).
@Suite(.timeLimit(.minutes(5))) struct DownloadDestinationTests {
    private final class Nowhere: DownloadRequest {
        override var url: String { "map.zip" }
    }

    @Test func withoutADestinationNothingIsSentAndNothingWritten() async throws {
        let world = World()
        world.transport.answer { _ in .json("{}") }
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Nowhere()).send()
        }
        #expect(error?.code == .fileFailed)
        #expect(error?.message.contains("Override destination") == true)
        #expect(world.transport.requests.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: "map.zip"))
    }
}
