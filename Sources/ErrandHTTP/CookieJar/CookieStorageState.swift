package import ErrandSystem

/// The cookies of a jar, by domain; a pure value.
package struct CookieStorageState {
    private struct Entry {
        var cookie: Cookie
        /// The position in the order of creation; dates alone can be equal.
        var created: UInt64
        /// The position in the order of use, for eviction.
        var used: UInt64
    }

    static let maximumPerDomain = 50
    static let maximumTotal = 3000

    private var entries: [String: [Entry]] = [:]
    private(set) var count = 0
    private var ticks: UInt64 = 0

    /// The cookies for a request in the order of the header: longer paths first, then older cookies.
    package mutating func cookies(for url: HTTPURL, isSecure: Bool, now: Date) -> [Cookie] {
        guard count > 0, let host = url.host.map(HostName.withoutTrailingDot) else { return [] }
        var found: [Entry] = []
        ticks += 1
        for domain in CookieDomain.selfAndParents(of: host) {
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

    /// Whether a cookie from an insecure response would hide a `Secure` one (RFC 6265bis §5.7, step 16).
    func overlaysSecureCookie(_ new: Cookie) -> Bool {
        guard count > 0, !new.isSecure else { return false }
        return entries.values.contains { list in
            list.contains { entry in
                let old = entry.cookie
                return old.isSecure && old.name.hasSameBytes(as: new.name)
                    && (CookieDomain.matches(host: old.domain, domain: new.domain)
                        || CookieDomain.matches(host: new.domain, domain: old.domain))
                    && CookiePath.matches(request: new.path, cookie: old.path)
            }
        }
    }

    /// Stores a cookie and replaces an existing one with the same identity.
    ///
    /// An expired cookie only removes the existing one.
    ///
    /// - Returns: Whether a persistent cookie was added, replaced or removed.
    package mutating func put(_ cookie: Cookie, now: Date) -> Bool {
        ticks += 1
        var entry = Entry(cookie: cookie, created: ticks, used: ticks)
        entry.cookie.created = now
        var affectsStorage = !cookie.isSession
        if let index = index(of: cookie), let old = entries[cookie.domain]?[index] {
            affectsStorage = affectsStorage || !old.cookie.isSession
            entry.created = old.created
            entry.cookie.created = old.cookie.created
            if cookie.isExpired(at: now) {
                removeEntry(at: index, of: cookie.domain)
            } else {
                entries[cookie.domain]?[index] = entry
            }
            return affectsStorage
        }
        guard !cookie.isExpired(at: now) else { return false }
        entries[cookie.domain, default: []].append(entry)
        count += 1
        return evict(besides: cookie.domain, now: now) || affectsStorage
    }

    /// Adds saved cookies in their order and keeps their creation dates.
    mutating func restore(_ cookies: [Cookie], now: Date) {
        for cookie in cookies {
            _ = put(cookie, now: now)
            if let index = index(of: cookie) {
                entries[cookie.domain]?[index].cookie.created = cookie.created
            }
        }
    }

    /// Removes the cookies that match the predicate.
    ///
    /// - Returns: Whether a persistent cookie was among them.
    package mutating func remove(where predicate: (Cookie) -> Bool) -> Bool {
        var affectsStorage = false
        for (domain, list) in entries {
            let kept = list.filter { entry in
                guard predicate(entry.cookie) else { return true }
                affectsStorage = affectsStorage || !entry.cookie.isSession
                return false
            }
            guard kept.count != list.count else { continue }
            count -= list.count - kept.count
            entries[domain] = kept.isEmpty ? nil : kept
        }
        return affectsStorage
    }

    /// All cookies that have not expired, oldest first.
    package func all(now: Date) -> [Cookie] {
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

    /// Removes cookies until both limits hold, after a cookie was added.
    ///
    /// Over the limit of a domain: expired cookies first, then cookies without `Secure`, then others. Over the
    /// total limit: expired cookies first, then others. Within each group, the least recently used one first.
    private mutating func evict(besides domain: String, now: Date) -> Bool {
        var affectsStorage = false
        while let list = entries[domain], list.count > Self.maximumPerDomain {
            let rank = { (entry: Entry) in
                entry.cookie.isExpired(at: now) ? 0 : entry.cookie.isSecure ? 2 : 1
            }
            guard
                let victim = list.indices.dropLast().min(by: {
                    (rank(list[$0]), list[$0].used) < (rank(list[$1]), list[$1].used)
                })
            else { break }
            affectsStorage = affectsStorage || !list[victim].cookie.isSession
            removeEntry(at: victim, of: domain)
        }
        guard count > Self.maximumTotal else { return affectsStorage }
        affectsStorage = remove { $0.isExpired(at: now) } || affectsStorage
        while count > Self.maximumTotal, let oldest = leastRecentlyUsed() {
            affectsStorage = affectsStorage || !oldest.cookie.isSession
            removeEntry(at: oldest.index, of: oldest.cookie.domain)
        }
        return affectsStorage
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
