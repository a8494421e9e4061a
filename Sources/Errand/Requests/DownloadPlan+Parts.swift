public import ErrandCore
public import ErrandSystem

extension DownloadPlan {
    /// Lists the part files in a folder, of downloads that run and of those that were interrupted.
    ///
    /// - Parameter folder: The folder of destinations, or ``partFolder``.
    /// - Throws: ``RequestError/Code/fileFailed`` if the folder cannot be read.
    nonisolated public static func parts(in folder: URL) throws(RequestError) -> [Part] {
        try PartFolder.parts(in: folder)
    }

    /// Removes part files, with their journals, of interrupted downloads that will not be resumed.
    ///
    /// Those of running downloads, in each process, are not removed.
    ///
    /// - Parameters:
    ///   - folder: The folder of destinations, or ``partFolder``.
    ///   - date: Only part files that were last changed before this time are removed (default: all).
    /// - Returns: The part files that were removed.
    /// - Throws: ``RequestError/Code/fileFailed`` if the folder cannot be read.
    @discardableResult
    nonisolated public static func removeParts(
        in folder: URL, unchangedSince date: Date = .distantFuture
    ) throws(RequestError) -> [Part] {
        try PartFolder.removeParts(in: folder, unchangedSince: date)
    }
}
