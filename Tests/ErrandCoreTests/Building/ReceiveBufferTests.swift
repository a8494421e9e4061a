import Foundation
import Testing

@testable import ErrandCore

/// The receive buffer size of downloads and other requests.
struct ReceiveBufferTests {
    private func bytes(_ configured: Int?, isDownload: Bool) throws -> Int? {
        var fixture = RequestBuilderFixture()
        fixture.configuration.transportOptions.receiveBufferBytes = configured
        let request = try fixture.build { description in
            guard isDownload else { return }
            description.download = DownloadPlan(to: URL(fileURLWithPath: "/tmp/x"))
        }
        return request.options.receiveBufferBytes
    }

    @Test func downloadsUseALargeReceiveBuffer() throws {
        #expect(try bytes(nil, isDownload: true) == 512 << 10)
        #expect(try bytes(nil, isDownload: false) == nil)
    }

    @Test func configuredSizeOverridesTheDefault() throws {
        #expect(try bytes(16 << 10, isDownload: true) == 16 << 10)
        #expect(try bytes(16 << 10, isDownload: false) == 16 << 10)
    }
}
