import ErrandCore
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Long bodies of responses that the endpoint refuses by their head.
@Suite("Contract: refused bodies", .limited)
struct RefusedBodyContract {
    enum Use: String, CaseIterable {
        case plain, stream, download, contentType
    }

    /// The rest is not received, and the error is not one about the size.
    @Test(arguments: TransportKind.wire, Use.allCases)
    func bodyIsCutAndTheErrorOfTheHeadStays(kind: TransportKind, use: Use) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-refused-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await StreamFixture.with(kind) {
            $0.transportOptions.maximumBytesInMemory = 3 << 20
        } _: { fixture async throws in
            // The server never ends the body.
            let status = use == .contentType ? 200 : 404
            fixture.server.route("/x") { _ in
                LoopbackResponse(steps: [
                    .head(
                        status: status,
                        headers: [
                            LoopbackHeader("Content-Type", "text/html"),
                            LoopbackHeader("Content-Length", "\(64 << 20)"),
                        ]), .body(Data(repeating: 65, count: 4 << 20)), .hold(Gate()),
                ])
            }
            var description = RequestDescription(
                endpoint: "Refused", url: "\(fixture.server.baseURL)/x")
            switch use {
            case .plain: break
            case .stream: description.isStreamed = true
            case .contentType:
                description.acceptance.contentTypes = ["application/json"]
            case .download:
                description.download = DownloadPlan(
                    to: folder.appendingPathComponent("f"))
            }
            let task = fixture.agent.start(description)
            let error = await #expect(throws: RequestError.self) {
                if use == .stream {
                    _ = try await fixture.agent.open(task)
                } else {
                    _ = try await task.response()
                }
            }
            #expect(
                error?.code
                    == (use == .contentType ? .unacceptableContentType : .unacceptableStatus))
            #expect(error?.response?.statusCode == status)
            #expect(error?.response?.data == Data(repeating: 65, count: 1 << 20))
            if use != .contentType {
                #expect(error?.message.contains("the first 1048576 bytes of the body") == true)
            }
        }
    }
}
