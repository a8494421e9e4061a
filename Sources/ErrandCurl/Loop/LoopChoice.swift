/// Which of several loops carries a request.
package enum LoopChoice {
    /// Where requests share a connection, all of a host's go the same way: it is theirs.
    package static func index(forHost host: String?, of count: Int) -> Int {
        Int(hash(of: host) % UInt32(max(1, count)))
    }

    /// Elsewhere the least busy one takes it, the first of several: who asks for one thing after the other keeps to one
    /// loop, and to its kept connections.
    package static func leastBusy(of count: Int, load: (Int) -> Int) -> Int {
        var best = 0
        var least = Int.max
        for index in 0..<count {
            let load = load(index)
            guard load < least else { continue }
            best = index
            least = load
            if load <= 0 { break }
        }
        return best
    }

    /// A loop's part of a limit; the first loops get what cannot be divided, and everybody gets something.
    package static func part(of limit: Int?, index: Int, count: Int) -> Int? {
        guard let limit, limit > 0, count > 1 else { return limit }
        return max(1, limit / count + (index < limit % count ? 1 : 0))
    }

    /// FNV-1a, the same in each run: hosts differ in few letters.
    static func hash(of host: String?) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for byte in (host ?? "").utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return hash
    }
}
