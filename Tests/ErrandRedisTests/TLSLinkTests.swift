#if Redis && os(Linux)
    import Foundation
    import Synchronization
    import TestSupport
    import Testing

    @testable import ErrandRedis

    /// The bytes of a connection with TLS, with a server in the same process.
    @Suite(.limited)
    struct TLSLinkTests {
        private let peer: TLSPeer
        private var later: Int64 { RedisTime.now + 600_000_000_000 }

        init() async throws { peer = try TLSPeer(try await TestCertificates.get()) }

        private func receive() throws {
            try peer.link.receive(now: RedisTime.now, unexpected: RedisFailure.refuse)
        }

        private func failure() -> RedisFailure? {
            do throws(RedisFailure) {
                try peer.link.receive(now: RedisTime.now, unexpected: RedisFailure.refuse)
                return nil
            } catch { return error }
        }

        @Test func replyIsCompleteWithItsLastByte() throws {
            let command = Exchange("PING")
            #expect(peer.link.send(command.batch, now: 0, mayRead: false).isAccepted)
            #expect(peer.received() == command.batch.bytes)
            let bytes = peer.encrypted("+PO") + peer.encrypted("NG\r\n")
            for byte in bytes {
                #expect(command.outcomes.isEmpty)
                peer.send([byte])
                try receive()
            }
            #expect(command.outcomes == [.success([.status("PONG")])])
        }

        @Test func callerReceivesRepliesOfOneRead() throws {
            let (first, second) = (Exchange("GET"), Exchange("TTL"))
            #expect(peer.link.send(first.batch, now: 0, mayRead: true).callerReads)
            #expect(!peer.link.send(second.batch, now: 0, mayRead: true).callerReads)
            #expect(peer.received() == first.batch.bytes + second.batch.bytes)
            // Two records in one packet: no decrypted byte waits for another one on the socket.
            peer.send(peer.encrypted("$3\r\nabc\r\n") + peer.encrypted(":7\r\n"))
            #expect(!peer.link.receiveReply(of: first.batch, until: later))
            #expect(first.outcomes == [.success([.string(Data("abc".utf8))])])
            #expect(second.outcomes == [.success([.integer(7)])])
        }

        @Test func newKeysAreUsedByBothEnds() throws {
            for round in 0..<3 {
                let command = Exchange("GET")
                _ = peer.link.send(command.batch, now: 0, mayRead: false)
                #expect(peer.received() == command.batch.bytes)
                try peer.updateKeys()
                peer.send(peer.encrypted(":\(round)\r\n"))
                try receive()
                #expect(command.outcomes == [.success([.integer(round)])])
                #expect(!peer.link.hasOutput)
            }
        }

        @Test func commandThatDoesNotFitIsSentLater() throws {
            let command = Exchange("SET", bytes: 8 << 20)
            let sent = peer.link.send(command.batch, now: 0, mayRead: true)
            #expect(sent.isAccepted && sent.wakesLoop && !sent.callerReads)
            let next = Exchange("PING")
            _ = peer.link.send(next.batch, now: 0, mayRead: true)
            var found = peer.received()
            while peer.link.hasOutput {
                peer.link.flush(now: RedisTime.now)
                found += peer.received()
            }
            #expect(found == command.batch.bytes + next.batch.bytes)
        }

        @Test func changedByteEndsTheConnection() throws {
            let command = Exchange("GET")
            _ = peer.link.send(command.batch, now: 0, mayRead: true)
            var bytes = peer.encrypted(":1\r\n")
            bytes[bytes.count - 1] ^= 1
            peer.send(bytes)
            #expect(peer.link.receiveReply(of: command.batch, until: later))
            #expect(command.outcomes.isEmpty)
            let failure = try #require(self.failure())
            #expect(failure.kind == .handshake)
            #expect(failure.message.contains("TLS failed"))
            peer.link.end(failure)
            #expect(command.outcomes == [.failure(failure)])
        }

        @Test func closeNotifyEndsTheConnection() throws {
            let command = Exchange("GET")
            _ = peer.link.send(command.batch, now: 0, mayRead: false)
            peer.send(peer.encrypted(":1\r\n") + (try peer.notice()))
            // The reply before it is not lost.
            #expect(failure()?.kind == .connectionLost)
            #expect(command.outcomes == [.success([.integer(1)])])
        }
    }

    /// A command, and how often and how it ended.
    private final class Exchange: Sendable {
        private let ends = Ends()
        let batch: RedisBatch

        init(_ name: String, bytes: Int = 1) {
            let ends = ends
            let command = RedisCommand(.text(name), .data(Data(count: bytes)))
            batch = RedisBatch([command]) { outcome in ends.list.withLock { $0.append(outcome) } }
        }

        var outcomes: [RedisBatch.Outcome] { ends.list.withLock { $0 } }

        private final class Ends: Sendable {
            let list = Mutex<[RedisBatch.Outcome]>([])
        }
    }
#endif
