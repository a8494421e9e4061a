import ArgumentParser
import Errand
import ErrandProgressLine
import ErrandTransport
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One run of the command: its downloads, their progress and results.
@MainActor
final class Session {
    /// A URL and the digest of its file.
    private struct Item {
        let url: String
        let name: String
        let expected: DownloadedFile.Digest?
    }

    private let command: Fetch
    private let items: [Item]
    private let folder: URL
    private let agent: RequestAgent
    private let display: ProgressDisplay?
    private let report: Report
    private var tasks: [Int: RequestTask] = [:]
    private var isInterrupted = false
    private var failures = 0

    /// - Throws: `ValidationError` for a URL or a checksum file that cannot be used; nothing has been sent.
    init(_ command: Fetch, _ urls: [String]) throws {
        self.command = command
        let checksums = try command.checksumFile.map { path in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw ValidationError("The checksum file \(path) cannot be read.")
            }
            return (path: path, text: text)
        }
        items = try urls.map { url in
            guard let parts = URL(string: url),
                ["http", "https"].contains(parts.scheme?.lowercased()),
                parts.host?.isEmpty == false
            else { throw ValidationError("\(url) is not a URL with http or https.") }
            let last = parts.path.split(separator: "/").last.map(String.init)
            let name = command.output ?? last ?? parts.host ?? url
            guard let checksums else {
                return Item(url: url, name: name, expected: command.checksum?.digest)
            }
            guard let digest = DownloadedFile.Digest.inChecksumFile(checksums.text, for: name)
            else {
                throw ValidationError(
                    "The checksum file \(checksums.path) has no line for \(name).")
            }
            return Item(url: url, name: name, expected: digest)
        }
        folder = URL(fileURLWithPath: command.directory, isDirectory: true)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw ValidationError("The folder \(command.directory) cannot be created.")
        }
        var transport: any Transport = CurlTransport()
        if let rate = command.limitRate {
            transport = BandwidthLimit(bytesPerSecond: rate.bytesPerSecond).transport(
                over: transport)
        }
        agent = RequestAgent(configuration: Configuration(), transport: transport, store: nil)
        display = command.quiet ? nil : ProgressDisplay()
        report = Report(isJSON: command.json, display: display)
    }

    /// Downloads all files; returns the exit status.
    func run() async -> Int32 {
        let interrupts = Interrupts { [weak self] in self?.interrupt() }
        defer { interrupts.stop() }
        let lines = items.map { display?.add($0.name) }
        await withTaskGroup(of: Void.self) { group in
            for index in items.indices {
                if index >= command.jobs { await group.next() }
                group.addTask { await self.download(index, lines[index]) }
            }
        }
        display?.end()
        await agent.shutdown()
        guard isInterrupted else { return failures > 0 ? 1 : 0 }
        report.note(
            "Interrupted. The parts of the files are kept: run the same command again to continue.")
        return 130
    }

    private func download(_ index: Int, _ line: ProgressDisplay.Line?) async {
        let item = items[index]
        guard !isInterrupted else { return }
        let target = command.output.map { folder.appendingPathComponent($0) } ?? folder
        let request = FetchFile(item.url, to: target, of: command, expected: item.expected)
        do {
            let file = try await agent.value(request) { task in
                tasks[index] = task
                if let line { task.onProgress { line.update($0) } }
            }
            report.finished(item.url, file, line)
        } catch {
            if !error.isCancellation || !isInterrupted { failures += 1 }
            report.failed(item.url, error, line)
        }
        tasks[index] = nil
    }

    /// Cancels the downloads, which keep their parts; the second interrupt ends the process.
    private func interrupt() {
        if isInterrupted { exit(130) }
        isInterrupted = true
        for task in tasks.values { task.cancel() }
    }
}

/// Calls a closure on the main actor for each Ctrl-C.
@MainActor
private final class Interrupts {
    private let source: any DispatchSourceSignal

    init(_ handler: @escaping @MainActor () -> Void) {
        // Otherwise the signal ends the process before the source gets it.
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
        source.setEventHandler { MainActor.assumeIsolated(handler) }
        source.resume()
    }

    func stop() { source.cancel() }
}
