/// An upper bound of the sizes of a database, known from earlier transactions of one connection.
///
/// Measuring costs two statements and a system call, about a quarter of a write, and most writes
/// are far from the limits. After a write, the sizes are at most those before it and the row's
/// ``RowCost``. That holds until another transaction changes the database, and thereby its data
/// version. A checkpoint need not change the version, but it lets nothing grow.
///
/// A bound decides only that a row fits. If a row may not fit, the sizes are measured. The size of
/// the log in a bound is its used part: the file may be larger, but does not grow before that part
/// exceeds it.
struct SizeBound: Sendable {
    private var known: (sizes: StoreMeasure, version: UInt32)?

    /// The bound while the database has this data version; `nil` if it must be measured.
    func sizes(at version: UInt32?) -> StoreMeasure? {
        guard let known, known.version == version else { return nil }
        return known.sizes
    }

    /// Records the end of a transaction.
    ///
    /// - Parameters:
    ///   - sizes: The sizes after it, at most.
    ///   - log: The used part of the log, if it is known exactly.
    ///   - version: The data version directly after it; `nil` if it is unknown.
    mutating func committed(_ sizes: StoreMeasure, log: Int?, version: UInt32?) {
        known = version.map { version in
            var sizes = sizes
            sizes.log = log ?? sizes.log
            return (sizes, version)
        }
    }

    /// Records that the next transaction writes to the beginning of the log.
    mutating func logRestarts() { known?.sizes.log = 0 }
}
