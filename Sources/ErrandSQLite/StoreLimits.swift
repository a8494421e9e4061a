import ErrandCore

/// The size limits of a store, and the numbers derived from them.
struct StoreLimits: Sendable {
    /// The maximum size of the database file and its log together, in bytes.
    var bytes: Int
    /// The maximum size of the entries in memory, in bytes.
    var memoryBytes: Int
    /// The minimum time between two recorded reads of an entry, in milliseconds.
    var accessGranularity: Int64 = 60_000
    /// How long writes wait for a checkpoint that other connections prevent.
    var checkpointPatience: Duration = .seconds(2)
    /// The time between two checkpoints while the log is blocked.
    var checkpointPause: Duration = .seconds(5)
    /// The time after which a file that could not be opened is opened again.
    var reopenPause: Duration = .seconds(30)

    /// The maximum number of entries; `nil` if only the size is limited.
    var maximumEntries: Int?
    /// How long an entry is kept after it has expired, in seconds; `nil` keeps it.
    var keepsExpired: Double?
    /// The time, in milliseconds, after which an unfinished body is removed if its writer has not
    /// written another part.
    var unfinishedPatience: Int64 = 600_000
    /// The time between two searches for expired entries and unused bytes, in milliseconds.
    var maintenancePause: Int64 = 60_000
    /// The pause of writing after the disk was full or failed; doubled with each failure.
    var diskPause: Duration = .seconds(1)
    /// The longest pause of writing after the disk was full or failed.
    var maximumDiskPause: Duration = .seconds(60)
    /// The size, in bytes, above which a body is stored in parts.
    var partsThreshold = 1 << 20
    /// The SQLite file system layer; `nil` for the default one.
    var vfs: String?

    /// How often an operation tries again while another process holds the database.
    var busyAttempts = 100

    /// The part of ``bytes`` that is reserved for the log.
    var logBytes: Int { min(16 << 20, max(64 << 10, bytes / 4)) }
    /// The maximum size of the database pages in use, in bytes.
    var databaseBytes: Int { max(bytes - logBytes, bytes / 2) }
    /// The size of the database file, in bytes, above which it was not written with these limits.
    ///
    /// Empty tables and indexes need ``Schema/pages``, and the estimate of ``RowCost`` may be too
    /// low by a few pages.
    var fileBytes: Int { databaseBytes + (64 << 10) }
    /// The number of bytes after which the log is copied into the database in the background.
    var backgroundBytes: Int { min(4 << 20, logBytes / 2) }
    /// How far below the limit eviction goes, in bytes, so that not every write evicts.
    var spare: Int { min(1 << 20, databaseBytes / 8) }
    /// The number of bytes that one transaction of removals may append to the log.
    var batchBytes: Int { logBytes / 4 }

    /// The size of a part of a body, in bytes.
    var partBytes: Int { min(256 << 10, logBytes / 4) }
    /// The number of free bytes in the file above which it is shrunk.
    var freeBytes: Int { 2 * spare + (64 << 10) }
    /// How far below the limit the eviction by number goes.
    var spareEntries: Int { maximumEntries.map { min(64, $0 / 16) } ?? 0 }

    /// Splits entries into groups whose removal appends at most ``batchBytes`` to the log.
    ///
    /// An entry that exceeds this alone has a group of its own.
    func removalBatches(of entries: [StoredEntryInfo]) -> [[CacheKey]] {
        var batches: [[CacheKey]] = []
        var rest = 0
        for entry in entries {
            let cost = RowCost.ofRemoval(size: entry.size)
            if cost > rest {
                batches.append([])
                rest = batchBytes
            }
            batches[batches.count - 1].append(entry.key)
            rest -= cost
        }
        return batches
    }
}

/// An estimate of the pages that a row needs.
struct RowCost: Sendable, Equatable {
    static let pageBytes = 4096
    /// A page in the log has a header.
    static let frameBytes = 4120

    /// The bytes that the row adds to the database.
    let database: Int
    /// The bytes that writing the row appends to the log.
    let log: Int

    init(_ entry: StoredResponse, key: CacheKey) {
        let text = key.canonical.utf8.count + entry.url.utf8.count
        self.init(bytes: entry.size + text + 4 * entry.headers.count + 128)
    }

    init(bytes: Int) {
        // Two pages more if the row splits a leaf; in the log also the parents, the list of free
        // pages, the number of entries, the map of pages, and a leaf of each index.
        let pages = bytes / (Self.pageBytes - 4) + 3
        database = pages * Self.pageBytes
        log = (pages + 12) * Self.frameBytes
    }

    /// The bytes that the removal of a row appends to the log.
    ///
    /// SQLite may be built to overwrite removed bytes, so that all pages of the row are written.
    static func ofRemoval(size: Int) -> Int { size + frameBytes }
}

/// The sizes of a database, in bytes.
struct StoreMeasure: Sendable, Equatable {
    /// The pages in use, without those of empty tables and indexes.
    var used: Int
    /// All pages, including free ones.
    var file: Int
    /// The file of the log.
    var log: Int
    /// The entries of other keys; 0 if their number is not limited.
    var otherEntries = 0

    /// The sizes after a row was written, at most.
    func adding(_ cost: RowCost) -> StoreMeasure {
        StoreMeasure(
            used: used + cost.database, file: file + cost.database, log: log + cost.log,
            otherEntries: otherEntries)
    }
}
