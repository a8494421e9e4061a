package import ErrandHTTP
package import ErrandSystem

/// Appends entries to an archive in a file, which is a complete document after each one.
///
/// Used by one thread at a time. Only the owner can read the file.
package struct HARFile {
    private let handle: OutputFile
    /// The offset behind the last complete entry.
    private var end: Int64
    private var isEmpty: Bool
    private static let footer = Data("\n]}}\n".utf8)

    /// Creates the file with the given entries, and replaces an existing one when it is complete.
    ///
    /// - Throws: ``RequestError/Code/fileFailed``.
    package init(_ file: URL, entries: [HAR.Entry] = []) throws(RequestError) {
        let temporary: FileAccess.Named
        do throws(FileAccess.Refusal) {
            temporary = try FileAccess.temporary(beside: file.path)
        } catch {
            throw Self.failure(file, POSIXError(number: error.code))
        }
        let head = Self.head
        handle = OutputFile(descriptor: temporary.descriptor)
        do {
            try handle.write(head + Self.footer)
        } catch {
            unlink(temporary.path)
            throw Self.failure(file, error)
        }
        end = Int64(head.count)
        isEmpty = true
        do {
            for entry in entries { try append(entry) }
            guard rename(temporary.path, file.path) == 0 else {
                throw POSIXError.last
            }
        } catch {
            unlink(temporary.path)
            throw Self.failure(file, error)
        }
    }

    /// Appends an entry.
    ///
    /// - Throws: An error of the file system. The file then ends with the entry before, unless that is impossible
    ///   as well.
    package mutating func append(_ entry: HAR.Entry) throws {
        var encoder = JSONWriter()
        encoder.outputFormatting = .withoutEscapingSlashes
        let text = Data((isEmpty ? "\n" : ",\n").utf8) + (try encoder.encode(entry))
        do {
            try handle.seek(to: end)
            try handle.write(text + Self.footer)
        } catch {
            try? handle.truncate(at: end)
            try? handle.seek(to: end)
            try? handle.write(Self.footer)
            throw error
        }
        end += Int64(text.count)
        isEmpty = false
    }

    /// Writes the file's content to the disk, and closes it.
    package func close() throws {
        try handle.synchronize()
        try handle.close()
    }

    private static var head: Data {
        let log = HAR().log
        return Data(
            """
            {"log":{"version":"\(log.version)","creator":{"name":"\(log.creator.name)",\
            "version":"\(log.creator.version)"},"entries":[
            """.utf8)
    }

    package static func failure(_ file: URL, _ error: any Error) -> RequestError {
        let reason =
            (error as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
            ?? "\(error)"
        return RequestError(
            .fileFailed, stage: .transport,
            "The archive \(file.path) cannot be written: \(reason)",
            underlying: error)
    }
}
