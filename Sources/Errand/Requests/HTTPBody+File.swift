import ErrandHTTP
public import ErrandSystem
import ErrandTransport

nonisolated extension HTTPBody {
    /// Writes the body to a file, from which it can be sent repeatedly.
    ///
    /// Use it for streams, and parts from streams, which can be read only once, and for uploads that outlive the
    /// files of their parts. The file is written completely or not at all, and replaces an existing
    /// one. The caller deletes it.
    ///
    /// - Returns: The file as a body, with the content type of this one and a known length.
    /// - Throws: ``RequestError/Code/invalidBody``, ``RequestError/Code/bodyReadFailed``,
    ///   ``RequestError/Code/fileFailed``.
    public func write(to file: URL) async throws(RequestError) -> HTTPBody {
        let source = try makeSource()
        defer { source.close() }
        let part: FileAccess.Named
        do throws(FileAccess.Refusal) {
            part = try FileAccess.temporary(beside: file.path, mode: 0o666)
        } catch { throw error.error(file.path, stage: .build) }
        do {
            let handle = OutputFile(descriptor: part.descriptor)
            try await Self.copy(source, to: handle)
            try handle.close()
            // An atomic replacement of an existing file.
            guard rename(part.path, file.path) == 0 else {
                throw POSIXError.last
            }
        } catch {
            unlink(part.path)
            throw error as? RequestError
                ?? RequestError(
                    .fileFailed, stage: .build,
                    "The body could not be written to \(file.lastPathComponent); see the underlying error.",
                    underlying: error)
        }
        return .file(file, contentType: contentType)
    }

    private static func copy(_ source: any BodySource, to handle: OutputFile) async throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            switch buffer.withUnsafeMutableBytes({ source.read(into: $0) }) {
            case .bytes(let count): try handle.write(Data(buffer[..<count]))
            case .end: return
            case .wait:
                await withCheckedContinuation { continuation in
                    source.whenReadable { continuation.resume() }
                }
            case .failed(let error): throw error
            }
        }
    }
}
