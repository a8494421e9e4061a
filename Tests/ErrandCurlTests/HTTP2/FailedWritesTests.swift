#if os(Linux)
    import CLibcurl
    import Glibc
    import Testing

    @testable import ErrandCurl

    /// A failed write waits while the unread input of its socket changes.
    final class FailedWritesTests {
        private let socket: Int32
        private let peer: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            (socket, peer) = (ends[0], ends[1])
        }

        deinit { for descriptor in [socket, peer] { close(descriptor) } }

        /// Sends or reads bytes until this number is unread.
        private func setUnread(_ count: Int) {
            let change = count - Int(errand_unread(socket))
            var bytes = [UInt8](repeating: 0, count: abs(change))
            if change > 0 { _ = write(peer, bytes, bytes.count) }
            if change < 0 { _ = read(socket, &bytes, bytes.count) }
            #expect(Int(errand_unread(socket)) == count)
        }

        @Test(
            arguments: [
                ([0, 0], [false, false]), ([3], [true]), ([3, 3, 3], [true, false, false]),
                ([3, 5, 5], [true, true, false]), ([5, 3, 3], [true, true, false]),
                ([3, 0, 0], [true, false, false]), ([0, 1], [false, true]),
            ] as [([Int], [Bool])])
        func changedInputPostponesTheFailure(unread: [Int], postponed: [Bool]) {
            var writes = FailedWrites(on: socket)
            var results: [Bool] = []
            for count in unread {
                setUnread(count)
                results.append(writes.postpone())
            }
            #expect(results == postponed)
        }

        @Test func inputBeforeTheEndOfTheConnectionPostponesTheFailure() {
            setUnread(3)
            shutdown(peer, Int32(SHUT_RDWR))
            var writes = FailedWrites(on: socket)
            let results = [writes.postpone(), writes.postpone()]
            #expect(results == [true, false])
        }

        @Test func closedSocketPostponesNothing() {
            var writes = FailedWrites(on: -1)
            let isPostponed = writes.postpone()
            #expect(!isPostponed)
        }
    }
#endif
