package import ErrandHTTP
import ErrandSystem
import Synchronization

/// The open and locked part file of a download, until it is complete.
///
/// After a crash at any moment, either there is no journal and the part file is unusable, or the
/// journal's validator belongs to the bytes of the part file. The order of writes ensures this: a
/// new download removes the journal before it writes the first byte; the journal's offset is raised
/// only after the bytes below it are synced; the complete and synced part file is renamed
/// atomically to its destination; the journal is removed last.
package final class PartFile: Sendable {
    struct State {
        var descriptor: Int32
        /// The bytes that were written, one range for each request; the first one begins at the first byte.
        ///
        /// Without ``isSegmented`` it is the only one.
        var extents: [Range<Int64>]
        /// Whether the file can have gaps, so that the journal and the table record the ranges.
        var isSegmented = false
        /// The record of the ranges; `nil` if nothing was written to a segmented file yet.
        var table: SegmentTable?
        var journal: DownloadJournal?
        /// The number of bytes that were written since the last sync began.
        var unsynced: Int64 = 0
        var isSyncing = false
        /// Counts restarts and truncations; a sync counts only for its own generation.
        var generation = 0
        /// Whether this run has started to write.
        ///
        /// Before that, bytes of an earlier run may not be synced, and the journal must not record
        /// them as synced.
        var hasBegun = false
        /// The digests of the bytes below their count.
        var digests = StreamingDigests([])

        /// The bytes of the file that are present.
        var written: ByteRanges { ByteRanges(extents) }
        /// Their number.
        var size: Int64 { isSegmented ? written.count : extents[0].upperBound }

        /// Makes the file empty.
        mutating func reset() {
            extents = [0..<0]
            isSegmented = false
            table?.close()
            (table, unsynced) = (nil, 0)
        }
    }

    let destination: DownloadDestination
    let state: Mutex<State>
    /// Performs blocking file operations, one after another.
    let queue = DispatchQueue(label: "errand.download.file", qos: .utility)
    private let syncInterval: Int64
    private let flush: @Sendable (Int32) -> Bool

    /// The number of bytes that are present: the size of the part file, unless it has gaps.
    package var size: Int64 { state.withLock { $0.size } }
    /// The bytes that are present.
    package var written: ByteRanges { state.withLock { $0.written } }
    /// Whether the file can have gaps.
    package var isSegmented: Bool { state.withLock { $0.isSegmented } }
    /// The journal; `nil` if the part file cannot be resumed.
    package var journal: DownloadJournal? { state.withLock { $0.journal } }
    /// Whether this process has started to write.
    package var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Opens and locks the part file of a destination, and creates it if necessary.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` if another download in any process has locked it,
    ///   the directory cannot be written, or another user can have put the part file or its journal there.
    package convenience init(
        _ destination: DownloadDestination, syncInterval: Int64 = 16 << 20
    ) throws(RequestError) {
        let journal = destination.journal.path
        for path in [journal, journal + Self.tableSuffix] {
            do throws(FileAccess.Refusal) {
                try FileAccess.checkOwn(path)
            } catch { throw error.error(path, advice: "Choose a writable destination.") }
        }
        self.init(
            destination, descriptor: try FileLock.openLocked(destination.part),
            syncInterval: syncInterval)
    }

    /// - Parameters:
    ///   - descriptor: Open for reading and writing; closed by the part file.
    ///   - flush: Syncs a file, which may take time; false on failure.
    package init(
        _ destination: DownloadDestination, descriptor: Int32, syncInterval: Int64 = 16 << 20,
        flush: @escaping @Sendable (Int32) -> Bool = PartFile.flush
    ) {
        self.destination = destination
        self.flush = flush
        self.syncInterval = syncInterval
        let size = Int64(max(0, lseek(descriptor, 0, SEEK_END)))
        let journal = DownloadJournal(of: destination.journal)
        state = Mutex(Self.state(descriptor, size: size, journal, destination))
    }

    deinit { closeNow() }

    // MARK: - On the transport's thread

    /// Discards the present bytes and starts with a new journal.
    ///
    /// - Parameter algorithms: The digests to compute while bytes are appended.
    package func begin(
        _ journal: DownloadJournal?, computing algorithms: Set<DownloadedFile.Digest.Algorithm> = []
    ) -> RequestError? {
        let failure = state.withLock { state -> RequestError? in
            // A concurrent sync must not write its journal after this.
            state.generation += 1
            // The journal is removed first, so that it never describes bytes of another response.
            unlink(destination.journal.path)
            unlink(tablePath)
            guard ftruncate(state.descriptor, 0) == 0 else { return Self.failure("emptied", errno) }
            state.reset()
            state.journal = journal
            state.digests = StreamingDigests(algorithms)
            state.hasBegun = true
            return nil
        }
        if let failure { return failure }
        return journal.flatMap { writeJournal($0) }
    }

    /// Resumes at an offset; bytes after it are removed, unless the file can have gaps.
    package func resume(at offset: Int64, total: Int64?) -> RequestError? {
        if isSegmented { return beginSegments() }
        let journal = state.withLock { state -> Result<DownloadJournal?, RequestError> in
            state.generation += 1
            guard ftruncate(state.descriptor, off_t(offset)) == 0 else {
                return .failure(Self.failure("cut", errno))
            }
            state.extents = [0..<offset]
            state.hasBegun = true
            state.journal?.total = total
            state.journal?.session = BootSession.current
            let safe = state.journal?.offset ?? 0
            state.journal?.offset = min(offset, safe)
            return .success(state.journal)
        }
        switch journal {
        case .failure(let error): return error
        case .success(let journal): return journal.flatMap { writeJournal($0) }
        }
    }

    /// An error if a file of this size does not fit on the disk; bytes up to the offset are on it already.
    package func shortage(total: Int64?, keeping offset: Int64) -> RequestError? {
        guard let total else { return nil }
        let (descriptor, size) = state.withLock { ($0.descriptor, $0.size) }
        // The bytes after the offset will be removed.
        let free = FreeSpace.available(descriptor).map {
            TransferProgress.sum($0, max(0, size - offset))
        }
        let folder = destination.folder.path
        return FreeSpace.shortage(
            needed: total - offset, available: free, at: destination.part.path)
            ?? FreeSpace.shortage(
                needed: total,
                available: FreeSpace.available(at: folder, otherThan: descriptor), at: folder)
    }

    /// Writes bytes after those of the first request.
    package func append(_ bytes: UnsafeRawBufferPointer) -> RequestError? { write(bytes, to: 0) }

    /// Writes bytes after those of one request.
    ///
    /// - Parameter index: 0, or the result of ``open(at:)``.
    package func write(_ bytes: UnsafeRawBufferPointer, to index: Int) -> RequestError? {
        let (failure, wantsSync) = state.withLock { state -> (RequestError?, Bool) in
            if let failure = Self.write(bytes, to: index, &state) { return (failure, false) }
            let isDue = state.unsynced >= syncInterval && !state.isSyncing
            guard isDue && state.journal != nil else { return (nil, false) }
            state.isSyncing = true
            return (nil, true)
        }
        if wantsSync { queue.async { self.sync() } }
        return failure
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, to index: Int, _ state: inout State
    ) -> RequestError? {
        guard state.extents.indices.contains(index) else { return failure("written", EINVAL) }
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            let position = state.extents[index].upperBound
            let count = pwrite(state.descriptor, start, rest.count, off_t(position))
            if count < 0 {
                if errno == EINTR { continue }
                return failure("written", errno)
            }
            if index == 0, state.digests.count == position {
                state.digests.update(UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            }
            state.extents[index] = state.extents[index].lowerBound..<position + Int64(count)
            state.unsynced += Int64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            // After the bytes, so that a killed process leaves no entry without them.
            if let error = state.table?.record(index, state.extents[index]) {
                return failure("written (its table)", error.code.rawValue)
            }
        }
        return nil
    }

    // MARK: - On the file's queue

    /// Syncs the bytes first, then raises the journal's offset.
    private func sync() {
        let (descriptor, written, generation) = state.withLock { state in
            state.unsynced = 0
            return (state.descriptor, state.written, state.generation)
        }
        // A failure only leaves these bytes unsynced; the last sync before the rename must succeed.
        let isSafe = descriptor >= 0 && flush(descriptor)
        let journal = state.withLock { state -> DownloadJournal? in
            state.isSyncing = false
            guard isSafe, state.generation == generation else { return nil }
            state.journal?.offset = written.count
            if state.isSegmented { state.journal?.extents = written.bounds }
            return state.journal
        }
        if let journal { _ = writeJournal(journal, synced: generation) }
    }

    /// The final state of the files.
    package enum Disposition: Sendable {
        /// Kept for resuming, if possible.
        case kept
        /// Removed.
        case discarded
    }

    /// Closes the part file and releases the lock; no effect after ``finish(_:name:attributes:)``.
    package func close(_ disposition: Disposition) async {
        guard state.withLock({ $0.descriptor >= 0 }) else { return }
        await run { [self] in
            switch disposition {
            case .kept where journal != nil && size > 0 && !hasBegun: break
            case .kept where journal != nil && size > 0: sync()
            case .kept, .discarded:
                removeJournal()
                unlink(destination.part.path)
            }
            closeNow()
        }
    }

    /// Renames the part file to the destination atomically, closes it and releases the lock.
    ///
    /// - Parameter name: The name in a folder.
    /// - Returns: The finished file, which may have another name with
    ///   ``DownloadPlan/ExistingFile/rename``.
    package func finish(
        _ policy: DownloadPlan.ExistingFile, name: String? = nil,
        attributes: FileAttributes = FileAttributes()
    ) async throws(RequestError) -> FilePlacement.Placed {
        let destination = try destination.named(name)
        return try await queue.perform { [self] () throws(RequestError) in
            let descriptor = state.withLock { $0.descriptor }
            guard flush(descriptor) else { throw Self.failure("synced", errno) }
            try FileLock.createFolder(destination.folder)
            // Another user of the folder may have replaced the file under its name.
            guard FileAccess.isName(destination.part.path, of: descriptor) else {
                throw .file(
                    "\(destination.part.path) was replaced by another program while the download ran. Choose a "
                        + "folder that only the current user can write.")
            }
            let placed = try FilePlacement.place(descriptor, destination, policy, attributes)
            FilePlacement.syncDirectory(destination.folder)
            removeJournal()
            closeNow()
            return placed
        }
    }

    private func closeNow() {
        let descriptor = state.withLock { state in
            defer { state.descriptor = -1 }
            state.table?.close()
            state.table = nil
            return state.descriptor
        }
        FileLock.close(descriptor, destination.part)
    }

    /// Writes the journal to a temporary file and renames it, so that it is never incomplete.
    ///
    /// - Parameter generation: The generation of the sync that writes it, which also syncs the
    ///   journal; `nil` on the transport's thread.
    func writeJournal(
        _ journal: DownloadJournal, synced generation: Int? = nil
    ) -> RequestError? {
        // Separate names, because both may write at the same time.
        let suffix = generation == nil ? Self.temporarySuffixes[0] : Self.temporarySuffixes[1]
        let path = destination.journal.path
        do throws(FileReplacement.Failure) {
            try FileReplacement.write(journal.encoded(), to: path, through: path + suffix) { file in
                generation == nil || flush(file)
            } place: { rename in
                state.withLock { $0.generation == generation ?? $0.generation && rename() }
            }
        } catch {
            let verb = error.stage == .create ? "created" : "written"
            return Self.failure(verb + " (its journal)", error.code)
        }
        return nil
    }

    private static let temporarySuffixes = ["-new", "-sync-new"]
    /// The ends of the names of all files that belong to a journal.
    static let journalSuffixes = [""] + temporarySuffixes + [tableSuffix, tableSuffix + "-new"]
    static let tableSuffix = "-table"
    var tablePath: String { destination.journal.path + Self.tableSuffix }

    /// Removes the journal, and temporary journals that a killed process has left.
    private func removeJournal() {
        for suffix in Self.journalSuffixes.reversed() { unlink(destination.journal.path + suffix) }
    }

    private func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async {
                body()
                continuation.resume()
            }
        }
    }

    package static func flush(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            if let isFlushed = DarwinSystem.flush(descriptor) { return isFlushed }
        #endif
        while fsync(descriptor) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    static func failure(_ verb: String, _ code: Int32) -> RequestError {
        let advice =
            code == ENOSPC || code == EDQUOT
            ? "Free some space and start again: the received bytes are kept."
            : "Choose a writable destination."
        let reason = String(cString: strerror(code))
        return .file(
            "The part file of the download could not be \(verb): \(reason). \(advice)",
            underlying: POSIXError(number: code))
    }
}
