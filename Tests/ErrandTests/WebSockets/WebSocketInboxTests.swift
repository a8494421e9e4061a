import Foundation
import Testing

@testable import Errand

/// The messages that wait for their reader.
struct WebSocketInboxTests {
    private func message(_ count: Int) -> WebSocketDriver.Message {
        WebSocketDriver.Message(isText: false, bytes: Data(count: count))
    }

    @Test func messagesKeepTheirOrder() {
        var inbox = WebSocketInbox()
        var (next, expected) = (0, 0)
        // Three are added and two taken, then all are taken.
        for _ in 0..<1_000 {
            for _ in 0..<3 {
                inbox.append(message(next))
                next += 1
            }
            for _ in 0..<2 {
                #expect(inbox.takeFirst()?.bytes.count == expected)
                expected += 1
            }
        }
        while let message = inbox.takeFirst() {
            #expect(message.bytes.count == expected)
            expected += 1
        }
        #expect(expected == 3_000 && inbox.isEmpty && inbox.bytes == 0)
    }

    /// A reader that never takes the last message does not make it grow.
    @Test func memoryIsInProportion() {
        var inbox = WebSocketInbox()
        for _ in 0..<200 { inbox.append(message(100)) }
        for _ in 0..<100_000 {
            inbox.append(message(100))
            _ = inbox.takeFirst()
        }
        #expect(inbox.bytes == 200 * 164)
        #expect(inbox.places <= 401)
    }

    @Test func messagesFromALargeOneOnAreRemoved() {
        var inbox = WebSocketInbox()
        for count in [500, 10, 101, 5] { inbox.append(message(count)) }
        // Taken before there was a limit.
        _ = inbox.takeFirst()
        let (first, second) = (
            inbox.removeAll(fromOneAbove: 100), inbox.removeAll(fromOneAbove: 100)
        )
        #expect(first && !second && inbox.bytes == 74)
        #expect(inbox.takeFirst()?.bytes.count == 10 && inbox.takeFirst() == nil)
    }
}
