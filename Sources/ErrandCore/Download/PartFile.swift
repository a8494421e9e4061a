import Dispatch
package import Foundation
import Synchronization

/// A part file, opened and locked: what a download writes to until it is whole.
///
/// Whoever is killed at any moment leaves one of these: no journal, then the part is worth nothing;
/// or a journal whose validator belongs to the bytes of the part. The order that sees to it: to
/// begin anew the journal goes before the first byte; the journal's offset is raised only after the
/// bytes below it are on the disk; the part becomes the destination in one step, whole and synced;
/// the journal goes last.
package final class PartFile: Sendable {
    private struct State {
        var descriptor: Int32
        var size: Int64
        var journal: DownloadJournal?
        var syncedSize: Int64
        var isSyncing = false
        /// How often the part was begun or cut; what a sync finds out holds for its own only.
        var generation = 0
        /// Whether this run has begun to write.
        ///
        /// Until then nothing is known of the bytes that an earlier one
        /// left unsynced, and the journal must not vouch for them.
        var hasBegun = false
    }

    private let destination: DownloadDestination
    private let state: Mutex<State>
    /// Everything that waits for the disk, one after the other.
    private let queue = DispatchQueue(label: "errand.download.file", qos: .utility)
    private let syncInterval: Int64
    private let flush: @Sendable (Int32) -> Bool

    /// How many bytes there are.
    package var size: Int64 { state.withLock { $0.size } }
    /// What is known of them; `nil` when they cannot be continued.
    package var journal: DownloadJournal? { state.withLock { $0.journal } }
    private var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Opens the part of a destination, made where there is none, and locks it.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` when another download has it, here or in another process,
    ///   and when the directory cannot be written.
    package convenience init(
        _ destination: DownloadDestination, syncInterval: Int64 = 16 << 20
    ) throws(RequestError) {
        self.init(
            destination, descriptor: try FileLock.openLocked(destination.part),
            syncInterval: syncInterval)
    }

    /// - Parameter descriptor: Opened for reading and writing; closed by the part file.
    /// - Parameter flush: Makes a file's bytes safe and may take its time; false where it cannot.
    init(
        _ destination: DownloadDestination, descriptor: Int32, syncInterval: Int64 = 16 << 20,
        flush: @escaping @Sendable (Int32) -> Bool = PartFile.flush
    ) {
        self.destination = destination
        self.flush = flush
        self.syncInterval = syncInterval
        let size = Int64(max(0, lseek(descriptor, 0, SEEK_END)))
        // A journal is small; what is not small is none.
        let data = try? FileHandle(forReadingFrom: destination.journal).read(upToCount: 64 << 10)
        let journal = data.flatMap(DownloadJournal.init(decoding:))
        state = Mutex(
            State(descriptor: descriptor, size: size, journal: journal, syncedSize: 0))
    }

    deinit { closeNow() }

    // MARK: - On the transport's thread

    /// Throws away what is there and begins with what is known of the new.
    func begin(_ journal: DownloadJournal?) -> RequestError? {
        let failure = state.withLock { state -> RequestError? in
            // A sync under way, for which nobody waits here, must not write its journal after this.
            state.generation += 1
            // First: without a journal nobody takes the bytes to come for the rest of others.
            unlink(destination.journal.path)
            guard ftruncate(state.descriptor, 0) == 0 else { return Self.failure("emptied", errno) }
            (state.size, state.syncedSize, state.journal) = (0, 0, journal)
            state.hasBegun = true
            return nil
        }
        if let failure { return failure }
        return journal.flatMap { writeJournal($0) }
    }

    /// Goes on at an offset; what is behind it goes.
    func resume(at offset: Int64, total: Int64?) -> RequestError? {
        let journal = state.withLock { state -> Result<DownloadJournal?, RequestError> in
            state.generation += 1
            guard ftruncate(state.descriptor, off_t(offset)) == 0 else {
                return .failure(Self.failure("cut", errno))
            }
            state.size = offset
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

    func append(_ bytes: UnsafeRawBufferPointer) -> RequestError? {
        let (failure, wantsSync) = state.withLock { state -> (RequestError?, Bool) in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = pwrite(state.descriptor, start, rest.count, off_t(state.size))
                if count < 0 {
                    if errno == EINTR { continue }
                    return (Self.failure("written", errno), false)
                }
                state.size += Int64(count)
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
            let isDue = state.size - state.syncedSize >= syncInterval && !state.isSyncing
            guard isDue && state.journal != nil else { return (nil, false) }
            state.isSyncing = true
            return (nil, true)
        }
        if wantsSync { queue.async { self.sync() } }
        return failure
    }

    // MARK: - On the file's queue

    /// Makes what is there safe, then says so in the journal; in this order.
    private func sync() {
        let (descriptor, size, generation) = state.withLock {
            ($0.descriptor, $0.size, $0.generation)
        }
        // A failure costs nothing but safety of these bytes; the last sync before the rename must
        // succeed.
        let isSafe = descriptor >= 0 && flush(descriptor)
        let journal = state.withLock { state -> DownloadJournal? in
            state.isSyncing = false
            guard isSafe, state.generation == generation else { return nil }
            state.syncedSize = size
            state.journal?.offset = size
            return state.journal
        }
        if let journal { _ = writeJournal(journal, synced: generation) }
    }

    /// What becomes of the files when nobody writes any more.
    package enum Fate: Sendable {
        /// They have their place already.
        case finished
        /// They stay for another start, where it can make use of them.
        case kept
        /// They go.
        case discarded
    }

    /// Ends the use of the part and lets go of the lock.
    package func close(_ fate: Fate) async {
        await run { [self] in
            switch fate {
            case .finished: break
            case .kept where journal != nil && size > 0 && !hasBegun: break
            case .kept where journal != nil && size > 0: sync()
            case .kept, .discarded:
                unlink(destination.journal.path)
                unlink(destination.part.path)
            }
            closeNow()
        }
    }

    /// The digest of everything, in hex.
    package func digest() async throws(RequestError) -> String {
        try await runThrowing { [self] () throws(RequestError) in
            var hash = SHA256()
            var offset: Int64 = 0
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            let descriptor = state.withLock { $0.descriptor }
            while true {
                let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
                if count == 0 { return hash.finalizeHex() }
                if count < 0 {
                    if errno == EINTR { continue }
                    throw Self.failure("read", errno)
                }
                hash.update(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
                offset += Int64(count)
            }
        }
    }

    /// Makes the part the destination, in one step.
    ///
    /// - Returns: Where the file is, which with ``DownloadPlan/ExistingFile/rename`` may be another name.
    package func finish(_ policy: DownloadPlan.ExistingFile) async throws(RequestError) -> URL {
        try await runThrowing { [self] () throws(RequestError) in
            let descriptor = state.withLock { $0.descriptor }
            guard flush(descriptor) else { throw Self.failure("synced", errno) }
            let file = try FilePlacement.place(destination, policy)
            FilePlacement.syncDirectory(of: file)
            unlink(destination.journal.path)
            return file
        }
    }

    private func closeNow() {
        let descriptor = state.withLock { state in
            defer { state.descriptor = -1 }
            return state.descriptor
        }
        FileLock.close(descriptor, destination.part)
    }

    /// Beside the journal first, then in its place: it is whole at any moment.
    ///
    /// - Parameter generation: The sync's that it is written for, which makes it safe first; `nil` from the transport's
    ///   thread.
    private func writeJournal(
        _ journal: DownloadJournal, synced generation: Int? = nil
    ) -> RequestError? {
        // The two may write at once.
        let temporary = destination.journal.path + (generation == nil ? "-new" : "-sync-new")
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return Self.failure("made (its journal)", errno) }
        let data = journal.encoded()
        let count = data.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let code = errno
        let isSafe = generation == nil || flush(descriptor)
        Foundation.close(descriptor)
        let isInPlace = state.withLock { state in
            guard count == data.count, isSafe, state.generation == generation ?? state.generation
            else { return false }
            return rename(temporary, destination.journal.path) == 0
        }
        guard isInPlace else {
            unlink(temporary)
            return Self.failure("written (its journal)", code)
        }
        return nil
    }

    private func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async {
                body()
                continuation.resume()
            }
        }
    }

    private func runThrowing<T: Sendable>(
        _ body: @escaping @Sendable () throws(RequestError) -> T
    ) async throws(RequestError) -> T {
        let result = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result { () throws(RequestError) in try body() })
            }
        }
        return try result.get()
    }

    static func flush(_ descriptor: Int32) -> Bool {
        while fsync(descriptor) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    private static func failure(_ verb: String, _ code: Int32) -> RequestError {
        let advice =
            code == ENOSPC || code == EDQUOT
            ? "Free some space and start again: what has come so far is kept."
            : "Choose a destination that can be written."
        let reason = String(cString: strerror(code))
        return .file(
            "The part file of the download could not be \(verb): \(reason). \(advice)",
            underlying: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO))
    }
}
