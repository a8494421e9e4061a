package import ErrandHTTP
package import ErrandSystem
import Synchronization

/// Part files with gaps, which several requests fill.
///
/// The order of writes keeps the guarantee of ``PartFile`` at each moment of a kill: the table exists before the journal
/// names it; the journal says that the file can have gaps before the first byte after a gap is written; the table
/// records bytes after they were written.
extension PartFile {
    /// The state of a file that was opened: the journal counts only if it describes the file.
    static func state(
        _ descriptor: Int32, size: Int64, _ journal: DownloadJournal?,
        _ destination: DownloadDestination
    ) -> State {
        var state = State(descriptor: descriptor, extents: [0..<size], journal: journal)
        guard journal?.extents != nil else { return state }
        // A shorter file was changed by another program: its content cannot be trusted.
        if let written = recorded(journal, destination.journal.path), written.end <= size {
            (state.isSegmented, state.extents) = (true, extents(of: written))
        } else {
            state.journal = nil
        }
        return state
    }

    /// The bytes of a file that can have gaps, as its journal and its table record them; `nil` for another file.
    static func recorded(_ journal: DownloadJournal?, _ journalPath: String) -> ByteRanges? {
        guard let journal, var written = journal.extents.flatMap(ByteRanges.init(bounds:)) else {
            return nil
        }
        if let name = journal.table, isCurrent(journal.session) {
            let ranges = SegmentTable.read(
                at: journalPath + tableSuffix, name: name, below: journal.total ?? 0)
            for range in ranges { written.insert(range) }
        }
        return written
    }

    /// Lets the file have gaps, and records all ranges from now on; no effect if it does already.
    package func beginSegments() -> RequestError? {
        let result = state.withLock { state -> Result<DownloadJournal?, RequestError> in
            guard state.table == nil, var journal = state.journal else { return .success(nil) }
            // The ranges of another boot session were not synced: their table must not get the name of the new session.
            let isSame = state.isSegmented && Self.isCurrent(journal.session)
            let extents = state.isSegmented ? Self.extents(of: state.written) : state.extents
            let table: SegmentTable
            do throws(POSIXError) {
                table = try SegmentTable.create(
                    at: tablePath, name: isSame ? journal.table : nil, extents)
            } catch {
                return .failure(Self.failure("recorded (its table)", error.code.rawValue))
            }
            // A concurrent sync must not write its journal after this.
            state.generation += 1
            if !state.isSegmented { journal.extents = ByteRanges([0..<journal.offset]).bounds }
            journal.session = BootSession.current
            journal.table = table.name
            (state.journal, state.table, state.extents) = (journal, table, extents)
            (state.isSegmented, state.hasBegun) = (true, true)
            return .success(journal)
        }
        switch result {
        case .failure(let error): return error
        case .success(let journal): return journal.flatMap { writeJournal($0) }
        }
    }

    /// Starts a range: bytes are then written from this offset on.
    ///
    /// - Returns: The index for ``write(_:to:)``.
    package func open(at offset: Int64) -> Int {
        state.withLock { state in
            // Continues the digests, too.
            if state.extents[0].upperBound == offset { return 0 }
            state.extents.append(offset..<offset)
            return state.extents.count - 1
        }
    }

    /// The bytes before an offset, to compare them.
    package func bytes(before offset: Int64, count: Int64) throws(RequestError) -> Data {
        var data = Data(count: Int(count))
        let read = state.withLock { state in
            data.withUnsafeMutableBytes {
                pread(state.descriptor, $0.baseAddress, $0.count, off_t(offset - count))
            }
        }
        guard read == Int(count) else { throw Self.failure("read", read < 0 ? errno : EIO) }
        return data
    }

    private static func isCurrent(_ session: String?) -> Bool {
        session != nil && session == BootSession.current
    }

    /// The ranges, of which the first begins at the first byte.
    private static func extents(of written: ByteRanges) -> [Range<Int64>] {
        written.ranges.first?.lowerBound == 0 ? written.ranges : [0..<0] + written.ranges
    }
}
