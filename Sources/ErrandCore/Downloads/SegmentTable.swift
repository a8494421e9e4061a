import ErrandHTTP
import ErrandSystem

/// The bytes that the requests of a segmented download have written: a file beside the journal, changed after each write.
///
/// A killed process has written at least these bytes, because the table is changed after the part file. After a system
/// crash it proves nothing, so it counts only in the boot session of the journal that names it.
struct SegmentTable: Sendable {
    /// The text that the journal and the table share.
    let name: String
    private let descriptor: Int32

    private static let headerSize = 16
    private static let entrySize = 16
    /// Further entries are not recorded.
    private static let maximumEntries = 1 << 16

    /// Writes a table to a temporary file and renames it.
    ///
    /// - Parameters:
    ///   - name: That of a table that is replaced by one with the same bytes; `nil` makes a new one.
    /// - Throws: The error number.
    static func create(
        at path: String, name: String?, _ extents: [Range<Int64>]
    ) throws(POSIXError) -> SegmentTable {
        let name =
            name
            ?? String(
                UUID().uuidString.lowercasedASCII().replacing(bytes: "-", with: "").prefix(
                    headerSize))
        let (descriptor, temporary): (Int32, String)
        do throws(FileAccess.Refusal) {
            let new = try FileAccess.temporary(beside: path, reusing: path + "-new")
            (descriptor, temporary) = (new.descriptor, new.path)
        } catch { throw POSIXError(number: error.code) }
        var bytes = Array(name.utf8)
        for extent in extents { bytes += entry(extent) }
        let count = pwrite(descriptor, bytes, bytes.count, 0)
        guard count == bytes.count, rename(temporary, path) == 0 else {
            let failure = count >= 0 && count < bytes.count ? POSIXError(.ENOSPC) : .last
            ErrandSystem.close(descriptor)
            unlink(temporary)
            throw failure
        }
        return SegmentTable(name: name, descriptor: descriptor)
    }

    /// Records the bytes of one request; nothing if there are too many requests.
    func record(_ index: Int, _ extent: Range<Int64>) -> POSIXError? {
        guard index < Self.maximumEntries else { return nil }
        let offset = off_t(Self.headerSize + index * Self.entrySize)
        let pair = (extent.lowerBound.littleEndian, extent.upperBound.littleEndian)
        return withUnsafeBytes(of: pair) { bytes in
            while true {
                let count = pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
                if count == bytes.count { return nil }
                if count >= 0 { return POSIXError(.ENOSPC) }
                if errno != EINTR { return .last }
            }
        }
    }

    func close() { ErrandSystem.close(descriptor) }

    /// Reads the table of a journal; empty if there is none, or if it belongs to another journal.
    static func read(at path: String, name: String, below end: Int64) -> [Range<Int64>] {
        let limit = headerSize + maximumEntries * entrySize
        guard
            let data = SourceFile.beginning(ofOwn: path, limit),
            data.count >= headerSize,
            data.prefix(headerSize).elementsEqual(name.utf8)
        else { return [] }
        let bytes = [UInt8](data.dropFirst(headerSize))
        return stride(from: 0, through: bytes.count - entrySize, by: entrySize).compactMap {
            start in
            let lower = number(bytes[start..<start + 8])
            let upper = number(bytes[start + 8..<start + 16])
            return lower >= 0 && lower < upper && upper <= end ? lower..<upper : nil
        }
    }

    private static func entry(_ extent: Range<Int64>) -> [UInt8] {
        [extent.lowerBound, extent.upperBound].flatMap { bound in
            withUnsafeBytes(of: bound.littleEndian) { [UInt8]($0) }
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        Int64(bitPattern: bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
