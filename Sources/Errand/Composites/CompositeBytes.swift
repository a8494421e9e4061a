import ErrandCore
import Foundation

/// The progress of all members of a run: a pure value.
nonisolated struct CompositeBytes: Sendable {
    private var members: [UUID: TransferProgress] = [:]

    mutating func take(_ progress: TransferProgress, of member: UUID) {
        members[member] = progress
    }

    /// The sum of the members' progress.
    ///
    /// A total is known when all `count` members have started and know their totals.
    func sum(ofMembers count: Int) -> TransferProgress {
        var sum = TransferProgress()
        let isComplete = members.count >= count
        sum.totalBytesToSend = isComplete ? 0 : nil
        sum.totalBytesToReceive = isComplete ? 0 : nil
        for member in members.values {
            sum.bytesSent = TransferProgress.sum(sum.bytesSent, member.bytesSent)
            sum.bytesReceived = TransferProgress.sum(
                sum.bytesReceived, member.bytesReceived)
            // A member without a body has no total; it counts as 0.
            let toSend = member.totalBytesToSend ?? (member.bytesSent == 0 ? 0 : nil)
            sum.totalBytesToSend = Self.add(sum.totalBytesToSend, toSend)
            sum.totalBytesToReceive = Self.add(sum.totalBytesToReceive, member.totalBytesToReceive)
        }
        return sum
    }

    private static func add(_ one: Int64?, _ other: Int64?) -> Int64? {
        guard let one, let other else { return nil }
        return TransferProgress.sum(one, other)
    }
}
