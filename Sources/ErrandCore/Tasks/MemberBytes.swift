import ErrandHTTP

/// The progress of all members of a run: a pure value.
///
/// It keeps the sums, so an event of one member costs the same for any number of members.
struct MemberBytes: Sendable {
    /// The share of one member, or the sum of the shares of all.
    ///
    /// Sums have 128 bits: a server can declare any length, and a share must be subtracted exactly.
    private struct Share {
        var sent: Int128 = 0
        var received: Int128 = 0
        var resumed: Int128 = 0
        var totalToSend: Int128 = 0
        var totalToReceive: Int128 = 0
        /// The number of members with an unknown total.
        var unknownToSend = 0
        var unknownToReceive = 0

        init() {}

        init(_ progress: TransferProgress) {
            sent = Int128(progress.bytesSent)
            received = Int128(progress.bytesReceived)
            resumed = Int128(progress.resumedBytes)
            // A member without a body has no total; it counts as 0.
            if let total = progress.totalBytesToSend {
                totalToSend = Int128(total)
            } else if progress.bytesSent != 0 {
                unknownToSend = 1
            }
            if let total = progress.totalBytesToReceive {
                totalToReceive = Int128(total)
            } else {
                unknownToReceive = 1
            }
        }

        /// Replaces the share of a member in this sum.
        mutating func replace(_ old: Share, by new: Share) {
            sent += new.sent - old.sent
            received += new.received - old.received
            resumed += new.resumed - old.resumed
            totalToSend += new.totalToSend - old.totalToSend
            totalToReceive += new.totalToReceive - old.totalToReceive
            unknownToSend += new.unknownToSend - old.unknownToSend
            unknownToReceive += new.unknownToReceive - old.unknownToReceive
        }
    }

    /// The latest progress of the members in progress, which are read and written one at a time.
    private struct Members {
        private var values: [Int: TransferProgress] = [:]
        /// The number of members that were read or written.
        private(set) var accesses = 0

        var count: Int { values.count }

        /// Sets the progress of a member and returns its previous one; `nil` removes the member.
        mutating func replace(
            _ member: Int, by progress: TransferProgress?
        ) -> TransferProgress? {
            accesses += 1
            guard let progress else { return values.removeValue(forKey: member) }
            return values.updateValue(progress, forKey: member)
        }
    }

    private var members = Members()
    /// The number of members that have ended.
    private var ended = 0
    private var total = Share()

    /// The number of members that events have read or written so far: one for each event, for tests of the cost.
    var accesses: Int { members.accesses }

    /// Records the progress of a member in place of its previous one.
    mutating func take(_ progress: TransferProgress, of member: Int) {
        let old = members.replace(member, by: progress)
        total.replace(old.map(Share.init) ?? Share(), by: Share(progress))
    }

    /// Records the last progress of a member.
    mutating func end(_ member: Int, with progress: TransferProgress) {
        let old = members.replace(member, by: nil)
        ended += 1
        total.replace(old.map(Share.init) ?? Share(), by: Share(progress))
    }

    /// The sum of the members' progress.
    ///
    /// A total is known when all `count` members have started and know their totals.
    func sum(ofMembers count: Int) -> TransferProgress {
        var sum = TransferProgress()
        let isComplete = members.count + ended >= count
        sum.bytesSent = Int64(clamping: total.sent)
        sum.bytesReceived = Int64(clamping: total.received)
        sum.resumedBytes = Int64(clamping: total.resumed)
        if isComplete, total.unknownToSend == 0 {
            sum.totalBytesToSend = Int64(clamping: total.totalToSend)
        }
        if isComplete, total.unknownToReceive == 0 {
            sum.totalBytesToReceive = Int64(clamping: total.totalToReceive)
        }
        return sum
    }
}

/// The task of a member in progress: of a request, a nested composite, or a closure of a graph's node.
package protocol MemberTask: AnyObject, Sendable {
    /// The observers of the member's progress.
    var hub: ProgressHub { get }
    var currentProgress: TransferProgress { get }
    func cancel()
    func suspend()
    func resume()
}
