#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Glibc
    import Testing

    @testable import ErrandCurl

    /// Silent connections are marked as suspect, and shut down.
    final class SuspectConnectionTests {
        private let loop = EventLoop.unopened()
        /// An address instead of OpenSSL's object.
        private let tls = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
        private var descriptors: [Int32] = []

        deinit {
            for descriptor in descriptors { close(descriptor) }
            tls.deallocate()
        }

        /// Adds a connection to the loop's table.
        private func addConnection() throws -> (socket: Int32, peer: Int32) {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            descriptors += ends
            loop.sockets.opened(ends[0], as: .secure)
            return (ends[0], ends[1])
        }

        /// Adds a socket with two addresses to the loop's table; nothing is sent over UDP.
        private func addSocketWithAddresses() throws -> (
            socket: Int32, ends: ConnectionEndpoints
        ) {
            let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            try #require(descriptor >= 0)
            descriptors.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            address.sin_port = in_port_t(9).bigEndian
            let result = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(result == 0)
            loop.sockets.opened(descriptor, as: .secure)
            let ends = try #require(ConnectionEndpoints(of: descriptor))
            return (descriptor, ends)
        }

        private func suspect(_ socket: Int32) {
            loop.sockets.suspects[Int(socket)] = SuspectConnection(tls: tls, socket: socket)
        }

        private func isSuspect(_ socket: Int32) -> Bool {
            loop.sockets.suspects[Int(socket)]?.socket == socket
        }

        /// Whether the connection was shut down at its other end.
        private func hasEnded(_ peer: Int32) -> Bool {
            var byte: UInt8 = 0
            return read(peer, &byte, 1) == 0
        }

        // MARK: - Closing

        @Test func suspectsAreShutDown() throws {
            let connections = [try addConnection(), try addConnection(), try addConnection()]
            suspect(connections[0].socket)
            suspect(connections[2].socket)
            loop.closeSuspectConnections()
            #expect(connections.map { hasEnded($0.peer) } == [true, false, true])
            #expect(loop.sockets.suspects.isEmpty)
            loop.closeSuspectConnections()
            #expect(!hasEnded(connections[1].peer))
        }

        @Test func connectionIsSuspectOnce() throws {
            let connection = try addConnection()
            suspect(connection.socket)
            suspect(connection.socket)
            #expect(loop.sockets.suspects.count == 1)
            loop.closeSuspectConnections()
            #expect(loop.sockets.suspects.isEmpty && hasEnded(connection.peer))
        }

        /// The number of a closed socket may belong to another connection.
        @Test(arguments: [false, true])
        func closedSocketIsNoLongerSuspect(isReopened: Bool) throws {
            let (closed, other) = (try addConnection(), try addConnection())
            suspect(closed.socket)
            suspect(other.socket)
            if isReopened {
                loop.sockets.opened(closed.socket, as: .secure)
            } else {
                loop.sockets.closed(closed.socket)
            }
            #expect(!isSuspect(closed.socket) && isSuspect(other.socket))
            loop.closeSuspectConnections()
            #expect(!hasEnded(closed.peer) && hasEnded(other.peer))
        }

        // MARK: - Marking

        @Test(
            arguments: [(nil, 0, true), (50, 49, false), (50, 50, true), (50, 51, true)]
                as [(UInt64?, UInt64, Bool)])
        func connectionWithoutInputSinceATimeIsSuspect(
            input: UInt64?, silentSince: UInt64, isMarked: Bool
        ) throws {
            let (socket, ends) = try addSocketWithAddresses()
            if let input {
                _ = loop.sockets.recordEvents(
                    errand_epoll_in, of: socket, at: MonotonicTime(nanoseconds: input))
            }
            // That the socket accepts bytes does not show that the server is there.
            _ = loop.sockets.recordEvents(
                errand_epoll_out, of: socket, at: MonotonicTime(nanoseconds: 1000))
            loop.markSuspect(
                tls, between: ends, silentSince: MonotonicTime(nanoseconds: silentSince))
            #expect(isSuspect(socket) == isMarked)
            #expect(loop.sockets.suspects.isEmpty == !isMarked)
        }

        @Test func onlyTheConnectionWithTheseEndpointsIsMarked() throws {
            let connections = [try addSocketWithAddresses(), try addSocketWithAddresses()]
            loop.markSuspect(tls, between: connections[1].ends, silentSince: .never)
            #expect(connections.map { isSuspect($0.socket) } == [false, true])
            #expect(loop.sockets.suspects[Int(connections[1].socket)]?.tls == tls)
        }

        @Test func unknownConnectionIsNotMarked() throws {
            let (socket, ends) = try addSocketWithAddresses()
            loop.sockets.closed(socket)
            loop.markSuspect(tls, between: ends, silentSince: .never)
            #expect(loop.sockets.suspects.isEmpty)
        }
    }
#endif
