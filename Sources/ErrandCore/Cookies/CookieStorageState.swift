import Foundation

/// The cookies of a jar, by domain: a pure value.
struct CookieStorageState {
    private struct Entry {
        var cookie: Cookie
        /// The order of creation; dates alone have ties.
        var created: UInt64
        /// The order of use, for eviction.
        var used: UInt64
    }

    static let mostPerDomain = 50
    static let mostInAll = 3000

    private var entries: [String: [Entry]] = [:]
    private(set) var count = 0
    private var ticks: UInt64 = 0

    /// The cookies for a request, in the order of the header: longer paths first, then older ones.
    mutating func cookies(for url: URI, isSecure: Bool, now: Date) -> [Cookie] {
        guard count > 0, let host = url.host else { return [] }
        var found: [Entry] = []
        ticks += 1
        for domain in CookieDomain.lineage(of: host) {
            let domain = String(domain)
            guard let list = entries[domain] else { continue }
            for index in list.indices {
                let cookie = list[index].cookie
                guard !cookie.isHostOnly || domain == host, isSecure || !cookie.isSecure,
                    !cookie.isExpired(at: now),
                    CookiePath.matches(request: url.path, cookie: cookie.path)
                else { continue }
                entries[domain]?[index].used = ticks
                found.append(list[index])
            }
        }
        found.sort { left, right in
            let (longer, shorter) = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            return longer == shorter ? left.created < right.created : longer > shorter
        }
        return found.map(\.cookie)
    }

    /// Whether a cookie that came without TLS would hide a `Secure` one (§5.7, step 16).
    func overlaysSecureCookie(_ new: Cookie) -> Bool {
        guard count > 0, !new.isSecure else { return false }
        return entries.values.contains { list in
            list.contains { entry in
                let old = entry.cookie
                return old.isSecure && old.name == new.name
                    && (CookieDomain.matches(host: old.domain, domain: new.domain)
                        || CookieDomain.matches(host: new.domain, domain: old.domain))
                    && CookiePath.matches(request: new.path, cookie: old.path)
            }
        }
    }

    /// Puts a cookie in, in place of the one it replaces.
    ///
    /// One that has ended only removes.
    ///
    /// - Returns: Whether a cookie that outlives the process was put in, replaced or removed.
    mutating func put(_ cookie: Cookie, now: Date) -> Bool {
        ticks += 1
        var entry = Entry(cookie: cookie, created: ticks, used: ticks)
        entry.cookie.created = now
        var touchesFile = !cookie.isSession
        if let index = index(of: cookie), let old = entries[cookie.domain]?[index] {
            touchesFile = touchesFile || !old.cookie.isSession
            entry.created = old.created
            entry.cookie.created = old.cookie.created
            if cookie.isExpired(at: now) {
                removeEntry(at: index, of: cookie.domain)
            } else {
                entries[cookie.domain]?[index] = entry
            }
            return touchesFile
        }
        guard !cookie.isExpired(at: now) else { return false }
        entries[cookie.domain, default: []].append(entry)
        count += 1
        return evict(besides: cookie.domain, now: now) || touchesFile
    }

    /// Takes back what was written, in its order.
    mutating func restore(_ cookies: [Cookie], now: Date) {
        for cookie in cookies {
            _ = put(cookie, now: now)
            if let index = index(of: cookie) {
                entries[cookie.domain]?[index].cookie.created = cookie.created
            }
        }
    }

    /// Removes cookies.
    ///
    /// Returns whether one that outlives the process was among them.
    mutating func remove(where predicate: (Cookie) -> Bool) -> Bool {
        var touchesFile = false
        for (domain, list) in entries {
            let kept = list.filter { entry in
                guard predicate(entry.cookie) else { return true }
                touchesFile = touchesFile || !entry.cookie.isSession
                return false
            }
            guard kept.count != list.count else { continue }
            count -= list.count - kept.count
            entries[domain] = kept.isEmpty ? nil : kept
        }
        return touchesFile
    }

    /// All that have not ended, oldest first.
    func all(now: Date) -> [Cookie] {
        entries.values.joined().filter { !$0.cookie.isExpired(at: now) }
            .sorted { $0.created < $1.created }.map(\.cookie)
    }

    private func index(of cookie: Cookie) -> Int? {
        entries[cookie.domain]?.firstIndex { $0.cookie.hasIdentity(of: cookie) }
    }

    private mutating func removeEntry(at index: Int, of domain: String) {
        entries[domain]?.remove(at: index)
        count -= 1
        if entries[domain]?.isEmpty == true { entries[domain] = nil }
    }

    /// Makes room after a cookie was added: among a domain's the ended, then the ones without
    /// `Secure`, then any; among all the ended, then any.
    ///
    /// Of equals the one that was not used for longest goes.
    private mutating func evict(besides domain: String, now: Date) -> Bool {
        var touchesFile = false
        while let list = entries[domain], list.count > Self.mostPerDomain {
            let rank = { (entry: Entry) in
                entry.cookie.isExpired(at: now) ? 0 : entry.cookie.isSecure ? 2 : 1
            }
            guard
                let victim = list.indices.dropLast().min(by: {
                    (rank(list[$0]), list[$0].used) < (rank(list[$1]), list[$1].used)
                })
            else { break }
            touchesFile = touchesFile || !list[victim].cookie.isSession
            removeEntry(at: victim, of: domain)
        }
        guard count > Self.mostInAll else { return touchesFile }
        touchesFile = remove { $0.isExpired(at: now) } || touchesFile
        while count > Self.mostInAll, let oldest = leastRecentlyUsed() {
            touchesFile = touchesFile || !oldest.cookie.isSession
            removeEntry(at: oldest.index, of: oldest.cookie.domain)
        }
        return touchesFile
    }

    private func leastRecentlyUsed() -> (cookie: Cookie, index: Int)? {
        var best: (entry: Entry, index: Int)?
        for list in entries.values {
            for (index, entry) in list.enumerated() where entry.used < best?.entry.used ?? .max {
                best = (entry, index)
            }
        }
        return best.map { ($0.entry.cookie, $0.index) }
    }
}
