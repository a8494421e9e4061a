import ErrandCore
import ErrandHTTP
import ErrandSystem

/// The open file of an upload, read in pieces.
///
/// One descriptor serves the whole run, so that a file that is replaced meanwhile does not mix with the
/// old one.
final class UploadSource: Sendable {
    /// The properties by which a changed file is recognized.
    struct Identity: Sendable, Hashable, Codable {
        var size: Int64
        /// The modification time in nanoseconds since 1970.
        var modified: Int64
    }

    let identity: Identity
    private let file: SourceFile
    private let name: String
    private let queue = DispatchQueue(label: "errand.upload.file", qos: .utility)

    /// Opens the file.
    ///
    /// - Throws: ``RequestError/Code/invalidBody`` for a file that is missing, not regular or not readable.
    init(_ url: URL) throws(RequestError) {
        name = url.lastPathComponent
        do throws(SourceFile.Problem) {
            file = try SourceFile(url)
        } catch { throw Self.refusal(of: url.lastPathComponent, error) }
        guard let identity = Self.identity(of: file) else {
            throw Self.refusal(of: url.lastPathComponent, .notRegular)
        }
        self.identity = identity
    }

    private static func refusal(of name: String, _ problem: SourceFile.Problem) -> RequestError {
        switch problem {
        case .noFileURL:
            RequestError(
                .invalidBody, stage: .build,
                "The file of an upload must be a file URL. Override file with URL(fileURLWithPath:)."
            )
        case .cannotOpen(let code):
            RequestError(
                .invalidBody, stage: .build,
                "The file \(name) cannot be opened: \(String(cString: strerror(code))). It must exist "
                    + "and be readable.",
                underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) })
        case .notRegular:
            RequestError(
                .invalidBody, stage: .build,
                "The file \(name) is not a regular file. Resumable uploads need one.")
        }
    }

    /// The chunks of a range, which is read while it is sent.
    func slice(of piece: TusRequest.Piece, rate: UploadRate?) -> Slice {
        Slice(source: self, piece: piece, rate: rate)
    }

    /// Reads at most `count` bytes.
    ///
    /// - Throws: ``RequestError/Code/bodyReadFailed`` if the file is shorter, cannot be read, or was changed.
    func read(at offset: Int64, count: Int) throws(RequestError) -> Data {
        var data = Data(count: count)
        let read = data.withUnsafeMutableBytes { file.read(into: $0, at: offset) }
        guard let read else { throw failed }
        guard read > 0 else { throw changed }
        if read < count { data.removeSubrange(read...) }
        return data
    }

    /// Throws if the file was changed since it was opened.
    func check() throws(RequestError) {
        guard Self.identity(of: file) == identity else { throw changed }
    }

    /// The checksum of a range in Base64.
    func checksum(_ algorithm: String, of piece: TusRequest.Piece) async throws(RequestError)
        -> String
    {
        guard var checksum = UploadChecksum(algorithm) else {
            throw RequestError(
                .unsupported, stage: .build,
                "The checksum algorithm \(algorithm) is not supported. Call discard() and start again."
            )
        }
        var offset = piece.offset
        while offset < piece.end {
            // Pieces may have any size.
            if Task.isCancelled { throw .cancelled }
            let (before, start) = (checksum, offset)
            let count = Int(min(1 << 20, piece.end - offset))
            (checksum, offset) = try await queue.perform { () throws(RequestError) in
                try self.extend(before, at: start, count: count)
            }
        }
        return Data(checksum.finalize()).base64EncodedString()
    }

    /// Adds at most `count` bytes to a checksum; returns it and the offset after them.
    private func extend(
        _ checksum: UploadChecksum, at offset: Int64, count: Int
    ) throws(RequestError) -> (UploadChecksum, Int64) {
        var checksum = checksum
        let data = try read(at: offset, count: count)
        data.withUnsafeBytes { checksum.update($0) }
        return (checksum, offset + Int64(data.count))
    }

    private static func identity(of file: SourceFile) -> Identity? {
        guard let information = file.information else { return nil }
        let time = information.modificationTime
        return Identity(
            size: Int64(information.st_size),
            modified: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    private var changed: RequestError {
        RequestError(
            .bodyReadFailed, stage: .transport,
            "The file \(name) changed while it was sent. Start the upload again with a file that is not "
                + "modified.")
    }

    private var failed: RequestError {
        RequestError(
            .bodyReadFailed, stage: .transport,
            "Reading the file \(name) failed while it was sent: \(String(cString: strerror(errno)))."
        )
    }
}

extension UploadSource {
    /// A range of the file as chunks of at most ``chunkSize`` bytes.
    struct Slice: AsyncSequence, Sendable {
        static let chunkSize = 256 << 10

        let source: UploadSource
        let piece: TusRequest.Piece
        let rate: UploadRate?

        func makeAsyncIterator() -> Iterator { Iterator(slice: self, offset: piece.offset) }

        struct Iterator: AsyncIteratorProtocol {
            let slice: Slice
            var offset: Int64

            mutating func next() async throws -> Data? {
                let rest = slice.piece.end - offset
                guard rest > 0 else { return nil }
                let longest = slice.rate?.chunkSize ?? Slice.chunkSize
                let count = Int(Swift.min(Int64(Swift.min(longest, Slice.chunkSize)), rest))
                try await slice.rate?.wait(for: count)
                let data = try slice.source.read(at: offset, count: count)
                offset += Int64(data.count)
                // Checked before the last bytes: the server never receives a mixture as complete.
                if offset == slice.piece.end { try slice.source.check() }
                return data
            }
        }
    }
}
