import ErrandCore
import ErrandHTTP
import ErrandSystem
import Synchronization

/// The files of a queue.
extension DownloadQueue {
    /// The files that an earlier process has finished, without having stored that.
    func finishedFiles(of entries: [Entry]) async -> [UUID: DownloadedFile] {
        let begun = entries.filter { !$0.state.isOver && $0.part != nil }
        guard !begun.isEmpty else { return [:] }
        return await Self.perform {
            var files: [UUID: DownloadedFile] = [:]
            for entry in begun {
                guard let destination = entry.download.paths,
                    let file = entry.part?.finishedFile(
                        of: destination, entry.download.plan.existingFile)
                else { continue }
                files[entry.id] = DownloadedFile(
                    file: file, bytes: FileAccess.size(of: file) ?? 0)
                // The process may have ended before it removed the journal.
                PartFolder.removePart(of: destination)
            }
            return files
        }
    }

    /// Records the part file of a request that has received its first bytes.
    func recordPart(of id: UUID, _ download: Download, total: Int64?) {
        guard let destination = download.paths,
            let part = PartIdentity(destination.part, total: total)
        else { return }
        if shared.withLock({ $0.state.set(part, of: id) }) { write(id) }
    }

    /// Removes the part file of a removed download, unless another entry needs it.
    func removePart(of download: Download) async {
        let others = shared.withLock { Array($0.state.entries.values) }
        await Self.perform {
            guard let destination = download.paths else { return }
            let isNeeded = others.contains {
                !$0.state.isOver && $0.download.destination == download.destination
                    && (!destination.isFolder || $0.download.url == download.url)
            }
            if !isNeeded { PartFolder.removePart(of: destination) }
        }
    }

    /// Performs blocking work outside the cooperative pool.
    private static func perform<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { continuation.resume(returning: work()) }
        }
    }
}

extension DownloadQueue.Download {
    /// The plan of the request.
    var plan: DownloadPlan {
        let isFolder = DownloadDestination.isDirectory(destination.standardizedFileURL)
        return .to(destination) {
            $0.existingFile = existingFile ?? (isFolder ? .rename : .overwrite)
            $0.segments = segments
            $0.expectedDigests = expectedDigests
        }
    }

    /// The paths of the finished file, the part file and the journal; `nil` for a URL that cannot be parsed.
    var paths: DownloadDestination? {
        guard url.fault == nil, let parsed = try? HTTPURL(parsingEndpoint: url.text) else {
            return nil
        }
        return try? DownloadDestination(plan, url: parsed)
    }

    /// Refuses a download that must not be stored, or that every start would refuse.
    func check(_ names: SecretNames) throws(RequestError) {
        if let fault = url.fault {
            throw RequestError(
                .invalidURL, stage: .build, "The download's url \(fault.reason)")
        }
        if let fault = retryPolicy?.fault {
            throw RequestError(.invalidConfiguration, stage: .build, fault)
        }
        let times = [timeouts?.connect, timeouts?.idle, timeouts?.total]
        if times.contains(where: { $0.map { $0 <= .zero } ?? false }) {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "A timeout of the download is zero or less. Set more, or nil for no limit.")
        }
        if let field = headers.first(where: { names.isSecret(header: $0.name.rawName) }) {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "The queue stores headers as plain text, and \(field.name) can contain credentials. "
                    + "Use an authenticator or the cookie storage of the agent.")
        }
        if let notBefore, !notBefore.timeIntervalSinceReferenceDate.isFinite {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "The notBefore of a download must be a finite date. Use nil for a download that "
                    + "may start at once, and Date.distantFuture for one that never starts.")
        }
        try plan.check()
    }
}
