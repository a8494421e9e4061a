import Errand
import Foundation
import Synchronization
import Terminal

// Upload and download.
extension Tour {
    func upload() async throws {
        let file = folder.appendingPathComponent("lighthouse-1.1.bin")
        let content = Blob.bytes(8 << 20, seed: 11)
        try content.write(to: file)
        let published = Date(timeIntervalSince1970: 1_893_456_000)
        let upload = UploadAsset(
            file, as: NewAsset(releaseTag: "v1.1", publishedAt: published), repo: repo)

        let steps = ProgressSteps()
        let (screen, gate) = (screen, server.uploadGate)
        let asset = try await upload.value { task in
            task.onProgress(every: .seconds(1), bytes: 1 << 20) { progress in
                steps.append(progress)
                screen.line("↑", progress.text, style: .wire)
                // Until now the server has received at most a part of the body.
                if progress.bytesSent >= 1 << 20 { gate.open() }
            }
        }
        let sent = steps.all.map(\.bytesSent)
        let request = server.loopback.requests.last { $0.path.hasSuffix("/assets") }
        checks.check(
            "progress was reported during the upload, \(sent.count) times, and at its end",
            sent == sent.sorted() && sent.contains { $0 >= 1 << 20 && $0 < 8 << 20 }
                && sent.last == request.map { Int64($0.bodyBytes) }
                && steps.all.allSatisfy { $0.totalBytesToSend == sent.last })
        let parts = request.map { UploadedParts($0) }
        checks.check(
            "the server has received the file as \(asset.name)",
            parts?["file"]?.body == content && asset.name == file.lastPathComponent)
        checks.check(
            "and the metadata, as JSON by the same rules as other bodies",
            parts?["metadata"]?.body
                == Data(#"{"release_tag":"v1.1","published_at":"2030-01-01T00:00:00Z"}"#.utf8))
    }

    func download() async throws {
        let asset = try await GetRepository(repo).value().latestAsset
        let download = DownloadAsset(asset, repo: repo, to: folder)
        let before = sentCount
        server.interruptDownloads(2)
        let file = try await download.value()
        let ranges = server.loopback.requests.dropFirst(before).map { $0.header("Range") ?? "all" }
        checks.check(
            "two attempts that made progress, and then one more: \(ranges.joined(separator: ", "))",
            ranges == ["all", "bytes=262144-", "bytes=524288-"])
        checks.check(
            "the file is complete, and has the digest \(asset.sha256?.prefix(12) ?? "none")…",
            try Data(contentsOf: file.file) == HubServer.asset.body && asset.sha256 != nil)

        var other = asset
        other.name = "other.bin"
        other.sha256 = String(repeating: "0", count: 64)
        let mismatch = DownloadAsset(other, repo: repo, to: folder)
        let refused = await failure { try await mismatch.value() }
        checks.check(
            "a file with another digest is refused and deleted",
            refused?.code == .digestMismatch
                && !FileManager.default.fileExists(atPath: mismatch.download.destination.path))
    }
}

/// The progress values of a request.
final class ProgressSteps: Sendable {
    private let values = Mutex<[TransferProgress]>([])

    var all: [TransferProgress] { values.withLock { $0 } }

    func append(_ progress: TransferProgress) { values.withLock { $0.append(progress) } }
}

extension TransferProgress {
    /// The sent bytes as a bar, in KiB.
    var text: String {
        let bar = String(repeating: "█", count: Int(24 * (fractionSent ?? 0))).padded(to: 25)
        return bar + "\(bytesSent >> 10) of \((totalBytesToSend ?? 0) >> 10) KiB"
    }
}
