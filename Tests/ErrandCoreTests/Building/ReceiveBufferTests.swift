import Foundation
import Testing

@testable import ErrandCore

/// A download reads in large pieces, unless the configuration says how large.
struct ReceiveBufferTests {
    private func bytes(_ configured: Int?, isDownload: Bool) throws -> Int? {
        var world = BuilderWorld()
        world.configuration.transport.receiveBufferBytes = configured
        let request = try world.build { description in
            guard isDownload else { return }
            description.download = DownloadPlan(destination: URL(fileURLWithPath: "/tmp/x"))
        }
        return request.options.receiveBufferBytes
    }

    @Test func downloadsReadInLargePieces() throws {
        #expect(try bytes(nil, isDownload: true) == 512 << 10)
        #expect(try bytes(nil, isDownload: false) == nil)
    }

    @Test func theConfigurationWins() throws {
        #expect(try bytes(16 << 10, isDownload: true) == 16 << 10)
        #expect(try bytes(16 << 10, isDownload: false) == 16 << 10)
    }
}
