/// Selects the event loop that performs a request.
package enum LoopChoice {
    /// The loop of a host, for requests that may share a connection.
    package static func index(forHost host: String?, of count: Int) -> Int {
        Int(hash(of: host) % UInt32(max(1, count)))
    }

    /// The loop with the fewest transfers, for requests that do not share a connection.
    ///
    /// If several loops have the fewest, the first of them. Sequential requests therefore stay on
    /// one loop and reuse its connections.
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

    /// The share of a limit for one loop, at least 1; the first loops get the remainder.
    package static func part(of limit: Int?, index: Int, count: Int) -> Int? {
        guard let limit, limit > 0, count > 1 else { return limit }
        return max(1, limit / count + (index < limit % count ? 1 : 0))
    }

    /// The FNV-1a hash of a host name.
    ///
    /// It is the same in every process, and differs for names that differ in few characters.
    static func hash(of host: String?) -> UInt32 {
        var host = host ?? ""
        return host.withUTF8 { bytes in
            bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
        }
    }
}
