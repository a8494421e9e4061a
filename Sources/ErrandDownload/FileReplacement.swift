package import Foundation

/// Replaces a small file as a whole, so that a killed process leaves the old or the new one.
package enum FileReplacement {
    /// A step that failed, and the error number of the system.
    package struct Failure: Error {
        package enum Step: Sendable {
            /// The temporary file could not be created.
            case create
            /// It could not be written, synced or renamed.
            case write
        }

        package let step: Step
        package let code: Int32
    }

    /// Writes a temporary file and renames it; readable by the current user only.
    ///
    /// - Parameters:
    ///   - temporary: The path of the temporary file, in the same folder.
    ///   - flush: Writes the temporary file to the disk; false if that failed.
    ///   - place: Calls its argument, which renames the file, unless the data is outdated.
    package static func write(
        _ data: Data, to path: String, through temporary: String, flush: (Int32) -> Bool,
        place: (() -> Bool) -> Bool = { $0() }
    ) throws(Failure) {
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Failure(step: .create, code: errno) }
        let count = data.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
        var code = errno
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
            throw Failure(step: .write, code: code)
        }
    }
}
