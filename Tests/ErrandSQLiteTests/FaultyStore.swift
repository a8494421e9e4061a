import ErrandCore
import Foundation

/// A memory store that violates one rule of the contract.
struct FaultyStore: ResponseStore {
    /// The faults; the raw value is the name of a check that must find it.
    enum Fault: String, CaseIterable, Sendable {
        case inventsEntries = "An empty store has no entries"
        case losesExpiry = "Entries are read as they were stored"
        case keepsEarlierEntry = "A later entry replaces the earlier one"
        case comparesHashes = "Keys with the same hash are distinguished"
        case removesTooMuch = "One entry, some or all are removed"
        case ignoresIdentity = "A selection lists the entries that it contains"
        case countsWrongly = "The removal of a selection removes the entries that it contains"
        case reportsNoBytes = "The usage counts the entries and their bytes"
        case shiftsParts = "A stored body is read in parts"
        case removesFirst = "The previous entry is returned until the last part is written"
        case removesAtFailure =
            "A body that fails leaves the previous entry, and its error is thrown"
        case exchangesBodies = "An opened body that is replaced or removed is intact or fails"

        /// Faults of basic operations violate several checks.
        var maximumViolations: Int {
            switch self {
            case .inventsEntries, .losesExpiry, .keepsEarlierEntry, .removesTooMuch: 20
            default: 4
            }
        }
    }

    let inner = MemoryResponseStore()
    let fault: Fault

    init(_ fault: Fault) { self.fault = fault }

    private func changed(_ key: CacheKey) -> CacheKey {
        fault == .comparesHashes ? CacheKey(canonical: "\(key.hash64)") : key
    }

    func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
        guard var entry = try await inner.entry(for: changed(key)) else {
            guard fault == .inventsEntries else { return nil }
            return StoredResponse(
                status: 200, headers: [:], body: Data(), url: "", storedAt: Date())
        }
        if fault == .losesExpiry { entry.expiresAt = nil }
        return entry
    }

    func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
        if fault == .keepsEarlierEntry, try await inner.entry(for: key) != nil { return }
        try await inner.store(entry, for: changed(key))
    }

    func remove(_ key: CacheKey) async throws(RequestError) { try await inner.remove(changed(key)) }

    func removeAll(
        where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
    ) async throws(RequestError) {
        try await inner.removeAll(where: fault == .removesTooMuch ? nil : predicate)
    }

    func entries() async throws(RequestError) -> [StoredEntryInfo] { try await inner.entries() }

    func entries(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> [StoredEntryInfo] {
        var selection = selection
        if fault == .ignoresIdentity { selection.identity = nil }
        return try await inner.entries(matching: selection)
    }

    func removeAll(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> Int {
        let count = try await inner.removeAll(matching: selection)
        return fault == .countsWrongly ? count + 1 : count
    }

    func usage() async throws(RequestError) -> StoredEntryInfo.Usage {
        var usage = try await inner.usage()
        if fault == .reportsNoBytes { usage.bytes = 0 }
        return usage
    }

    func open(_ key: CacheKey) async throws(RequestError) -> StoredResponse.Opened? {
        guard let entry = try await entry(for: key) else { return nil }
        let count = entry.body.count
        return switch fault {
        case .shiftsParts where count > 1 << 20:
            StoredResponse.Opened(
                entry.withoutBody,
                body: .init(count: count) { range throws(RequestError) in
                    entry.body.dropFirst(max(0, range.lowerBound - 1)).prefix(range.count)
                })
        case .exchangesBodies:
            StoredResponse.Opened(
                entry.withoutBody,
                body: .init(count: count) { range throws(RequestError) in
                    let body = try await inner.entry(for: key)?.body ?? Data(count: count)
                    return body.dropFirst(range.lowerBound).prefix(range.count)
                })
        default: StoredResponse.Opened(entry)
        }
    }

    func store(
        _ entry: StoredResponse, body: StoredResponse.ChunkedBody, for key: CacheKey
    ) async throws(RequestError) {
        if fault == .removesFirst { try await inner.remove(key) }
        var entry = entry
        entry.body = Data()
        do throws(RequestError) {
            for start in stride(from: 0, to: body.count, by: 1 << 20) {
                entry.body += try await body.bytes(in: start..<min(start + (1 << 20), body.count))
            }
        } catch {
            if fault == .removesAtFailure { try await inner.remove(key) }
            throw error
        }
        try await store(entry, for: key)
    }
}

extension StoredResponse {
    fileprivate var withoutBody: StoredResponse {
        var copy = self
        copy.body = Data()
        return copy
    }
}
