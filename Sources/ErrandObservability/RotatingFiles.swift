import ErrandCore
import ErrandHTTP
import ErrandSystem

/// Appends lines to a file, and begins a new file when it is full.
struct RotatingFiles: Sendable {
    private static let prefix = "requests-"
    private static let suffix = ".jsonl"

    private let folder: URL
    private let maximumFiles: Int
    private let maximumBytes: Int
    private var descriptor: Int32 = -1
    private var size = 0
    /// Whether the file ends with a part of a line.
    private var isTorn = false
    /// The milliseconds in the name of the last file.
    private var last: Int64 = -1
    /// The error because of which the last line was lost.
    private(set) var problem: RequestError?

    init(folder: URL, maximumFiles: Int, maximumBytes: Int) throws(RequestError) {
        self.folder = folder
        self.maximumFiles = maximumFiles
        self.maximumBytes = maximumBytes
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw Self.error(
                "The folder \(folder.path) of the log cannot be created: \(error)", error)
        }
    }

    static func error(_ message: String, _ underlying: any Error) -> RequestError {
        RequestError(
            .fileFailed, stage: .process,
            "\(message). Check the folder's permissions and the free space.",
            underlying: underlying)
    }

    // MARK: - Writing

    /// Appends a line; if a new file begins, after the header.
    mutating func append(_ line: Data, header: Data, _ date: Date) {
        do {
            if descriptor >= 0, size >= maximumBytes || !isInFolder { close() }
            if descriptor < 0 {
                try begin(at: date)
                try write(header)
                try removeOldest()
            }
            try write(line)
            problem = nil
        } catch {
            problem = Self.error("A line of the log is lost: \(error)", error)
        }
    }

    /// Closes the current file.
    mutating func close() {
        if descriptor >= 0 { ErrandSystem.close(descriptor) }
        descriptor = -1
        size = 0
        isTorn = false
    }

    /// False if the file was removed.
    private var isInFolder: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    private mutating func begin(at date: Date) throws {
        // Names sort by their time, also if several files begin in one millisecond, or if the clock goes back.
        last = max(Int64((date.timeIntervalSince1970 * 1000).rounded()), last + 1)
        let name = Self.name(last)
        let random = String(UInt32.random(in: 0...(.max)), radix: 16)
        let path = folder.appendingPathComponent(Self.prefix + name + "-" + random + Self.suffix)
            .path
        do throws(FileAccess.Refusal) {
            descriptor = try FileAccess.new(path, mode: 0o600)
        } catch {
            throw POSIXError(number: error.code)
        }
    }

    private static func name(_ milliseconds: Int64) -> String {
        let digits = String(milliseconds)
        return String(repeating: "0", count: max(0, 15 - digits.count)) + digits
    }

    /// Writes a line with one call; after a part of a line, on a new line.
    private mutating func write(_ line: Data) throws {
        var rest = isTorn ? Data("\n".utf8) + line : line
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                ErrandSystem.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw POSIXError.last }
            rest = rest.dropFirst(count)
            size += count
            isTorn = !rest.isEmpty
        }
    }

    // MARK: - Files

    /// The regular files of this user that have the name of a log file, the oldest first.
    func list() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.starts(withBytes: Self.prefix) && $0.ends(withBytes: Self.suffix) }
            .sorted()
            .map { folder.appendingPathComponent($0) }
            .filter { file in
                var status = stat()
                return lstat(file.path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
                    && status.st_uid == geteuid() && status.st_nlink == 1
            }
    }

    mutating func removeAll() throws {
        close()
        for file in try list() { try Self.remove(file) }
    }

    private func removeOldest() throws {
        for file in try list().dropLast(maximumFiles) { try Self.remove(file) }
    }

    /// Removes a file, unless another process has done so.
    private static func remove(_ file: URL) throws {
        guard unlink(file.path) == 0 || errno == ENOENT else { throw POSIXError.last }
    }
}
