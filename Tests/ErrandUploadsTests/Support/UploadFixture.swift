import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport

@testable import ErrandUploads

/// A server, a file, and an agent that uploads one to the other.
struct UploadFixture {
    let tus: TusLoopback
    let file: TemporaryFile
    let bytes: Data
    let agent: RequestAgent
    private let configuration: Configuration

    init() async throws {
        tus = try await TusLoopback()
        bytes = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8) })
        file = try TemporaryFile(bytes, name: "film.bin")
        var configuration = Configuration()
        configuration.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .milliseconds(1))
        self.configuration = configuration
        agent = RequestAgent(configuration: configuration)
    }

    /// An upload with settings of its own.
    final class Upload: ResumableUploadRequest {
        var piece: Int64?
        var sum = Checksum.none
        var overs = true
        var policy: RetryPolicy?
        var fields = HTTPFields()
        var key: Authorization?
        var data: [String: String]?
        var signers:
            [@Sendable (inout TransportRequest, RequestDescription, Int) async throws -> Void] = []
        var rate: Int64?
        var place: URL?
        override var pieceSize: Int64? { piece }
        override var checksum: Checksum { sum }
        override var startsOver: Bool { overs }
        override var retryPolicy: RetryPolicy? { policy }
        override var headers: HTTPFields { fields }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.authorization = key
            request.requestProcessors += signers
        }
        override var uploadMetadata: [String: String] { data ?? super.uploadMetadata }
        override var bytesPerSecond: Int64? { rate }
        override var journal: URL? { place }
    }

    func upload(_ change: (Upload) -> Void = { _ in }) -> Upload {
        let upload = Upload(EndpointURL(raw: tus.url), file: file.url)
        change(upload)
        return upload
    }

    /// The names of the files in the folder of the source.
    var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(
                atPath: file.url.deletingLastPathComponent().path)
        }
    }

    /// An agent over another transport than the default one.
    func agent(over kind: TransportKind) -> RequestAgent {
        RequestAgent(configuration: configuration, transport: kind.makeTransport())
    }

    /// Uploads the file on a clock that advances by a step whenever a task sleeps.
    func value(
        _ upload: Upload, over kind: TransportKind, on clock: ManualClock, by step: Duration
    ) async throws -> UploadedFile {
        let advancing = Task {
            while !Task.isCancelled {
                try await clock.untilSleeping()
                clock.advance(by: step)
                await Task.yield()
            }
        }
        defer { advancing.cancel() }
        let agent = RequestAgent(
            configuration: configuration, transport: kind.makeTransport(), clock: clock)
        return try await upload.value(on: agent)
    }

    /// The error of an upload; `nil` after a success.
    ///
    /// - Parameter other: The agent that uploads (default: that of the fixture).
    func failure(_ upload: Upload, on other: RequestAgent? = nil) async -> RequestError? {
        let uploader = other ?? agent
        do {
            _ = try await upload.value(on: uploader)
            return nil
        } catch { return error }
    }
}
