import ErrandHTTP
package import ErrandSystem

/// Replaces a small file as a whole, so that a killed process leaves the old or the new one.
package enum FileReplacement {
    /// A stage that failed, and the error number of the system.
    package struct Failure: Error {
        package enum Stage: Sendable {
            /// The temporary file could not be created.
            case create
            /// It could not be written, synced or renamed.
            case write
        }

        package let stage: Stage
        package let code: Int32
    }

    /// Writes a temporary file and renames it; readable by the current user only.
    ///
    /// - Parameters:
    ///   - fixed: The path of the temporary file, in the same folder, for callers that hold a lock; `nil` chooses a
    ///     random name.
    ///   - flush: Writes the temporary file to the disk; false if that failed.
    ///   - place: Calls its argument, which renames the file, unless the data is outdated.
    package static func write(
        _ data: Data, to path: String, through fixed: String? = nil, flush: (Int32) -> Bool,
        place: (() -> Bool) -> Bool = { $0() }
    ) throws(Failure) {
        let (file, temporary): (Int32, String)
        do throws(FileAccess.Refusal) {
            let new = try FileAccess.temporary(beside: path, reusing: fixed)
            (file, temporary) = (new.descriptor, new.path)
        } catch { throw Failure(stage: .create, code: error.code) }
        let count = data.withUnsafeBytes { ErrandSystem.write(file, $0.baseAddress, $0.count) }
        // A short write does not set errno; the disk is full.
        var code = count < 0 ? errno : ENOSPC
        var isSafe = count == data.count
        if isSafe {
            isSafe = flush(file)
            code = errno
        }
        close(file)
        if isSafe {
            isSafe = place {
                let isInPlace = rename(temporary, path) == 0
                code = errno
                return isInPlace
            }
        }
        guard isSafe else {
            unlink(temporary)
            throw Failure(stage: .write, code: code)
        }
    }
}
