import ErrandCore

/// Listing and removing the entries of a selection.
extension StoreState {
    /// The row numbers of the entries that may belong to a selection; `nil` while the file cannot
    /// be opened.
    mutating func candidates(
        _ selection: StoredEntryInfo.Selection
    ) throws(SQLiteFailure) -> [Int64]? {
        try withDatabase { (_, database) throws(SQLiteFailure) in
            try database.candidates(selection)
        } orInMemory: { _ in
            nil
        }
    }

    /// The metadata of those rows that belong to a selection.
    mutating func infos(
        of ids: ArraySlice<Int64>, matching selection: StoredEntryInfo.Selection
    ) throws(SQLiteFailure) -> [StoredEntryInfo] {
        try withDatabase { (_, database) throws(SQLiteFailure) in
            var result: [StoredEntryInfo] = []
            for id in ids {
                if let info = try database.info(id: id), selection.contains(info) {
                    result.append(info)
                }
            }
            return result
        } orInMemory: { state in
            ids.compactMap { id in
                state.memoryCache.peek(id).map {
                    StoredEntryInfo(key: $0.key, entry: $0.entry)
                }
            }.filter { selection.contains($0) }
        }
    }

    /// The metadata of the entries in memory that belong to a selection.
    func infosWithoutFile(matching selection: StoredEntryInfo.Selection) -> [StoredEntryInfo] {
        memoryCache.all
            .map { StoredEntryInfo(key: $0.1.key, entry: $0.1.entry) }
            .filter { selection.contains($0) }
    }

    /// Removes those entries that still belong to a selection, in one transaction; returns their
    /// number.
    mutating func remove(
        _ keys: [CacheKey], matching selection: StoredEntryInfo.Selection
    ) throws(SQLiteFailure) -> Int {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            for key in keys { state.memoryCache.remove(EntryRow.id(of: key)) }
            var count = 0
            try state.removeInTransaction(from: database) { (database) throws(SQLiteFailure) in
                count = 0
                for key in keys {
                    let id = EntryRow.id(of: key)
                    guard let info = try database.info(id: id), info.key == key,
                        selection.contains(info)
                    else { continue }
                    try database.delete(id: id)
                    count += 1
                }
            }
            return count
        } orInMemory: { state in
            for key in keys { state.removeWithoutFile(key) }
            return keys.count
        }
    }
}
