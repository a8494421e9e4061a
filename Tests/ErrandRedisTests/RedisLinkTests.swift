#if Redis && os(Linux)
    import Foundation
    import Synchronization
    import TestSupport
    import Testing

    @testable import ErrandRedis

    /// A connection whose replies are received by callers and by the loop, in all orders.
    ///
    /// The other end is a socket of the test, and replies are sent before they are waited for.
    @Suite(.limited)
    struct RedisLinkTests {
        /// Later than any test ends.
        private var later: Int64 { RedisTime.now + 600_000_000_000 }

        @Test func callerReceivesItsReply() throws {
            let pair = try Pair()
            for number in 1...3 {
                let command = Command()
                let sent = pair.link.send(command.batch, now: 0, mayRead: true)
                #expect(sent.isAccepted)
                #expect(sent.callerReads)
                // The loop stops polling the connection, once.
                #expect(sent.wakesLoop == (number == 1))
                #expect(!pair.link.isWatched)
                pair.reply(":\(number)\r\n")
                // The loop leaves the reply to the caller.
                try pair.receive()
                #expect(command.outcomes.isEmpty)
                #expect(!pair.link.receiveReply(of: command.batch, until: later))
                #expect(command.outcomes == [.success([.integer(number)])])
                #expect(pair.link.deadline(limit: 1) == nil)
            }
        }

        @Test func lateReplyIsReceivedByTheLoop() throws {
            let pair = try Pair()
            let command = Command()
            #expect(pair.link.send(command.batch, now: 0, mayRead: true).callerReads)
            pair.reply("$5\r\nhal")
            #expect(pair.link.receiveReply(of: command.batch, until: 0))
            #expect(command.outcomes.isEmpty)
            #expect(pair.link.isWatched)
            #expect(pair.link.deadline(limit: 1) != nil)
            pair.reply("lo\r\n")
            try pair.receive()
            #expect(command.outcomes == [.success([.string(Data("hallo".utf8))])])
        }

        @Test func callerReceivesTheRepliesBehindItsOwn() throws {
            let pair = try Pair()
            let (first, second) = (Command(), Command())
            #expect(pair.link.send(first.batch, now: 0, mayRead: true).callerReads)
            let sent = pair.link.send(second.batch, now: 0, mayRead: true)
            #expect(!sent.callerReads)
            #expect(!sent.wakesLoop)
            pair.reply(":1\r\n:2\r\n")
            #expect(!pair.link.receiveReply(of: first.batch, until: later))
            #expect(first.outcomes == [.success([.integer(1)])])
            #expect(second.outcomes == [.success([.integer(2)])])
        }

        @Test func commandsBehindAnotherAreLeftToTheLoop() throws {
            let pair = try Pair()
            let (first, second) = (Command(), Command())
            _ = pair.link.send(first.batch, now: 0, mayRead: true)
            _ = pair.link.send(second.batch, now: 0, mayRead: true)
            pair.reply(":1\r\n")
            #expect(pair.link.receiveReply(of: first.batch, until: later))
            #expect(first.outcomes == [.success([.integer(1)])])
            #expect(second.outcomes.isEmpty)
            pair.reply(":2\r\n")
            try pair.receive()
            #expect(second.outcomes == [.success([.integer(2)])])
        }

        /// A server that has not read all bytes resets the connection.
        @Test(arguments: [true, false])
        func endOfTheConnectionIsLeftToTheLoop(isRead: Bool) throws {
            let pair = try Pair()
            let command = Command()
            _ = pair.link.send(command.batch, now: 0, mayRead: true)
            if isRead { pair.readCommands() }
            pair.closeServer()
            #expect(pair.link.receiveReply(of: command.batch, until: later))
            #expect(command.outcomes.isEmpty)
            let failure = try #require(pair.failure())
            #expect(failure.kind == .connectionLost)
            #expect(failure.message.contains("the server closed") == isRead)
            pair.link.end(failure)
            #expect(command.outcomes == [.failure(failure)])
            #expect(!pair.link.send(Command().batch, now: 0, mayRead: true).isAccepted)
        }

        @Test func endOfAnIdleConnectionIsReadByTheLoop() throws {
            let pair = try Pair()
            let command = Command()
            _ = pair.link.send(command.batch, now: 0, mayRead: true)
            pair.reply(":1\r\n")
            _ = pair.link.receiveReply(of: command.batch, until: later)
            pair.closeServer()
            #expect(pair.failure() == nil)
            pair.link.connectionEnded()
            #expect(pair.failure()?.kind == .connectionLost)
        }

        @Test func unusedConnectionIsPolledAgain() throws {
            let pair = try Pair()
            let command = Command()
            _ = pair.link.send(command.batch, now: 0, mayRead: true)
            pair.reply(":1\r\n")
            _ = pair.link.receiveReply(of: command.batch, until: later)
            pair.link.checkUse()
            #expect(!pair.link.isWatched)
            pair.link.checkUse()
            #expect(pair.link.isWatched)
        }

        @Test func commandIsEndedOnceIfTheLinkEndsWhileItsCallerWaits() throws {
            let pair = try Pair()
            let command = Command()
            _ = pair.link.send(command.batch, now: 0, mayRead: true)
            let failure = RedisFailure(kind: .timedOut, message: "slow")
            pair.reply(":1\r\n")
            pair.link.end(failure)
            _ = pair.link.receiveReply(of: command.batch, until: later)
            #expect(command.outcomes == [.failure(failure)])
        }

        @Test(arguments: [
            (":2\r\n", RedisFailure.Kind.invalidReply), ("-ERR limit\r\n", .refused),
            ("HTTP/1.1 400\r\n", .invalidReply),
        ])
        func unexpectedReplyEndsTheConnection(
            rest: String, kind: RedisFailure.Kind
        ) throws {
            let pair = try Pair()
            let command = Command()
            _ = pair.link.send(command.batch, now: 0, mayRead: true)
            pair.reply(":1\r\n" + rest)
            #expect(pair.link.receiveReply(of: command.batch, until: later))
            #expect(command.outcomes == [.success([.integer(1)])])
            // The caller has consumed the bytes, and the loop still finds the failure.
            #expect(pair.failure()?.kind == kind)
        }

        /// Bytes of a reply that is never complete do not keep a command waiting.
        @Test func slowReplyIsNoProgress() throws {
            let pair = try Pair()
            let command = Command()
            _ = pair.link.send(command.batch, now: 0, mayRead: false)
            #expect(pair.link.deadline(limit: 10) == 10)
            pair.reply("$1000000\r\n")
            for number in 1...15 {
                pair.reply(String(repeating: "x", count: 1024))
                try pair.receive(now: Int64(number))
                #expect(pair.link.deadline(limit: 10) == 10)
            }
            pair.reply(String(repeating: "x", count: 1024))
            try pair.receive(now: 9)
            #expect(pair.link.deadline(limit: 10) == 19)
            for number in 1...40 {
                pair.reply(String(repeating: "x", count: 16 << 10))
                try pair.receive(now: Int64(10 * number))
            }
            #expect(pair.link.deadline(limit: 10) == 200)
            #expect(command.outcomes.isEmpty)
        }

        @Test func completeReplyIsProgressOfTheNextCommand() throws {
            let pair = try Pair()
            let (first, second) = (Command(), Command())
            _ = pair.link.send(first.batch, now: 0, mayRead: false)
            _ = pair.link.send(second.batch, now: 5, mayRead: false)
            pair.reply(":1\r\n")
            try pair.receive(now: 8)
            #expect(pair.link.deadline(limit: 10) == 18)
        }

        @Test func commandThatDoesNotFitIsLeftToTheLoop() throws {
            let pair = try Pair()
            let command = Command(bytes: 8 << 20)
            let sent = pair.link.send(command.batch, now: 0, mayRead: true)
            #expect(sent.isAccepted)
            #expect(sent.wakesLoop)
            #expect(!sent.callerReads)
            #expect(pair.link.hasOutput)
        }
    }

    /// A connection and the socket of its server.
    private final class Pair {
        let link: RedisLink
        private var server: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
                throw POSIXError(.EMFILE)
            }
            server = ends[1]
            link = try #require(RedisLink(descriptor: ends[0]))
        }

        deinit { closeServer() }

        func closeServer() {
            if server >= 0 { close(server) }
            server = -1
        }

        func readCommands() {
            var bytes = [UInt8](repeating: 0, count: 4096)
            #expect(recv(server, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0)
        }

        func reply(_ text: String) {
            let bytes = Array(text.utf8)
            #expect(write(server, bytes, bytes.count) == bytes.count)
        }

        /// Receives as the loop does.
        func receive(now: Int64 = RedisTime.now) throws {
            try link.receive(now: now, unexpected: RedisFailure.refuse)
        }

        /// The failure that the loop finds.
        func failure() -> RedisFailure? {
            do throws(RedisFailure) {
                try link.receive(now: RedisTime.now, unexpected: RedisFailure.refuse)
                return nil
            } catch { return error }
        }
    }

    /// A command, and how often and how it ended.
    private final class Command: Sendable {
        private let ends = Ends()
        let batch: RedisBatch

        init(bytes: Int = 1) {
            let ends = ends
            batch = RedisBatch([RedisCommand("SET", .data(Data(count: bytes)))]) { outcome in
                ends.list.withLock { $0.append(outcome) }
            }
        }

        var outcomes: [RedisBatch.Outcome] { ends.list.withLock { $0 } }

        private final class Ends: Sendable {
            let list = Mutex<[RedisBatch.Outcome]>([])
        }
    }
#endif
