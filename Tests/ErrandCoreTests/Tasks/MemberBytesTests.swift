import TestSupport
import Testing

@testable import ErrandCore

/// The progress of a batch is kept as sums, and equals the sum over all members at any time.
@Suite(.limited) struct MemberBytesTests {
    /// Adds the progress of all members.
    private func naiveSum(
        _ members: [Int: TransferProgress], count: Int
    ) -> TransferProgress {
        var sum = TransferProgress()
        let isComplete = members.count >= count
        sum.totalBytesToSend = isComplete ? 0 : nil
        sum.totalBytesToReceive = isComplete ? 0 : nil
        for member in members.values {
            sum.bytesSent += member.bytesSent
            sum.bytesReceived += member.bytesReceived
            sum.resumedBytes += member.resumedBytes
            let toSend = member.totalBytesToSend ?? (member.bytesSent == 0 ? 0 : nil)
            if let total = sum.totalBytesToSend, let toSend {
                sum.totalBytesToSend = total + toSend
            } else {
                sum.totalBytesToSend = nil
            }
            if let total = sum.totalBytesToReceive, let toReceive = member.totalBytesToReceive {
                sum.totalBytesToReceive = total + toReceive
            } else {
                sum.totalBytesToReceive = nil
            }
        }
        return sum
    }

    @Test(arguments: 1...20) func sumsEqualTheSumOverAllMembers(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ids = Array(0..<5)
        var members: [Int: TransferProgress] = [:]
        var bytes = MemberBytes()
        for _ in 0..<200 {
            guard let id = ids.randomElement(using: &random) else { return }
            var progress = TransferProgress()
            progress.bytesSent = .random(in: 0...3, using: &random)
            progress.bytesReceived = .random(in: 0...9, using: &random)
            progress.resumedBytes = .random(in: 0...4, using: &random)
            if Bool.random(using: &random) {
                progress.totalBytesToSend = .random(in: 0...9, using: &random)
            }
            if Int.random(in: 0..<8, using: &random) > 0 {
                progress.totalBytesToReceive = .random(in: 0...9, using: &random)
            }
            members[id] = progress
            bytes.take(progress, of: id)
            #expect(bytes.sum(ofMembers: 5) == naiveSum(members, count: 5))
        }
    }

    @Test func eventReadsOneMemberHoweverManyThereAre() {
        for count in [10, 10_000] {
            var bytes = MemberBytes()
            for member in 0..<count { bytes.take(TransferProgress(), of: member) }
            let before = bytes.accesses
            var progress = TransferProgress()
            progress.bytesReceived = 5
            bytes.take(progress, of: count / 2)
            #expect(bytes.sum(ofMembers: count).bytesReceived == 5)
            bytes.end(count / 2, with: progress)
            #expect(bytes.sum(ofMembers: count).bytesReceived == 5)
            #expect(bytes.accesses - before == 2)
        }
    }

    @Test func saturatedSumsBecomeExactAgain() {
        let (one, other) = (0, 1)
        var huge = TransferProgress()
        huge.totalBytesToReceive = .max
        var bytes = MemberBytes()
        bytes.take(huge, of: one)
        bytes.take(huge, of: other)
        #expect(bytes.sum(ofMembers: 2).totalBytesToReceive == .max)
        var small = TransferProgress()
        small.totalBytesToReceive = 5
        bytes.take(small, of: one)
        bytes.take(small, of: other)
        #expect(bytes.sum(ofMembers: 2).totalBytesToReceive == 10)
    }
}
