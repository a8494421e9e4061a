public import Foundation

extension MultipartBody {
    /// Writes the body to a file, to be sent from there: once put together, as often as it takes (row UP-9).
    ///
    /// For parts from streams, which are then read once; for uploads that outlive the parts' own files. The file is
    /// whole or not there; what stood there before is replaced. Deleting it is up to the caller.
    ///
    /// - Returns: The file as a body, with the content type of this one and a known length.
    /// - Throws: ``RequestError/Code/invalidBody``, ``RequestError/Code/bodyReadFailed``, ``RequestError/Code/fileFailed``.
    public func write(to file: URL) async throws(RequestError) -> HTTPBody {
        let part = file.appendingPathExtension("part")
        let source = try makeSource()
        defer { source.close() }
        do {
            try Data().write(to: part)
            let handle = try FileHandle(forWritingTo: part)
            try await Self.copy(source, to: handle)
            try handle.close()
            // In one step: what stood there is there until the new one is.
            guard rename(part.path, file.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        } catch {
            try? FileManager.default.removeItem(at: part)
            throw error as? RequestError
                ?? RequestError(
                    .fileFailed, stage: .build,
                    "The multipart body cannot be written to \(file.lastPathComponent).",
                    underlying: error)
        }
        return .file(file, contentType: contentType)
    }

    private static func copy(_ source: any BodySource, to handle: FileHandle) async throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            switch buffer.withUnsafeMutableBytes({ source.read(into: $0) }) {
            case .bytes(let count): try handle.write(contentsOf: buffer[..<count])
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
