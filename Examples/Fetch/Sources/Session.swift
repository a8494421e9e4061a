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
    private let command: Fetch
    private let items: [Item]
    private let folder: URL
    private let agent: RequestAgent
    private let display: ProgressDisplay?
    private let report: Report
    private var tasks: [Int: RequestTask] = [:]
    /// The resources that have part files at the start, for `--continue`.
    private var partsAtStart: Set<String> = []
    /// The paths of the files that this run has finished or kept.
    private var results: Set<String> = []
    private var isInterrupted = false
    private var failures = 0

    /// - Throws: `ValidationError` for a URL or a checksum file that is not usable; nothing has been sent.
    init(_ command: Fetch, _ urls: [String]) throws {
        self.command = command
        let checksums = try command.checksumFile.map { try ChecksumFile($0) }
        items = try urls.map { try Item($0, of: command, checksums) }
        if command.ignoreQuery { try Item.checkResources(of: items) }
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
        if command.continues { partsAtStart = parts() }
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
        report.note(interruption)
        return 130
    }

    private func download(_ index: Int, _ line: ProgressDisplay.Line?) async {
        let item = items[index]
        guard !isInterrupted else { return }
        do {
            let file = try await receive(index, line)
            results.insert(file.path)
            report.finished(item.url, file, line)
        } catch {
            if !error.isCancellation || !isInterrupted { failures += 1 }
            report.failed(item.url, error, line)
        }
        tasks[index] = nil
    }

    /// Downloads a file; with `--continue`, keeps the one that an earlier run has finished.
    private func receive(
        _ index: Int, _ line: ProgressDisplay.Line?
    ) async throws(RequestError) -> DownloadedFile {
        let policy = command.existing.policy
        guard command.continues, !partsAtStart.contains(items[index].resource) else {
            return try await send(index, policy, line)
        }
        let file = try await send(index, .keep, line)
        guard file.isKept else { return file }
        // Different files have the same name if their URLs differ only in the query, so the lengths are compared. With
        // --output the name is known, and nothing was sent.
        let length = try await tasks[index]?.response().headers[.contentLength]
        let isFinished = command.output != nil || length == String(file.bytes)
        if isFinished, !results.contains(file.path) { return file }
        return try await send(index, policy, line)
    }

    private func send(
        _ index: Int, _ existing: DownloadPlan.ExistingFile, _ line: ProgressDisplay.Line?
    ) async throws(RequestError) -> DownloadedFile {
        let item = items[index]
        let target = command.output.map { folder.appendingPathComponent($0) } ?? folder
        let request = FetchFile(
            item.url, to: target, existing: existing, of: command, expected: item.expected)
        return try await request.value(on: agent) { task in
            tasks[index] = task
            if isInterrupted { task.cancel() }
            if let line { task.onProgress { line.update($0) } }
        }
    }

    /// The resources of this command that have part files.
    private func parts() -> Set<String> {
        let found = (try? DownloadPlan.parts(in: folder)) ?? []
        let resources = found.compactMap { part in
            part.url.map { Item.resource($0, ignoringQuery: command.ignoreQuery) }
        }
        return Set(resources).intersection(items.map(\.resource))
    }

    /// The message after Ctrl-C, with the command that continues.
    private var interruption: String {
        let count = parts().count
        guard count > 0 else { return "Interrupted. No part of a file is kept." }
        let kept = count == 1 ? "1 part is kept" : "\(count) parts are kept"
        let keepsFinished = results.isEmpty || command.continues || command.existing == .keep
        let change =
            switch (keepsFinished, command.noResume) {
            case (true, false): "again"
            case (false, false): "with --continue"
            case (true, true): "without --no-resume"
            case (false, true): "with --continue in place of --no-resume"
            }
        return "Interrupted. \(kept): run the same command \(change) to resume."
    }

    /// Cancels the downloads; the second interrupt ends the process.
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
