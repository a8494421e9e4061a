#if os(Linux)
    import CLibcurl
    import Glibc
    import Testing

    @testable import ErrandCurl

    /// The TLS records of a shared connection that are collected until the end of a turn.
    final class SharedWritesTests {
        private let poll = errand_epoll_create()
        private let loop: EventLoop
        private let socket: Int32
        private let peer: Int32
        private let writes: SharedWrites

        init() throws {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            (socket, peer) = (ends[0], ends[1])
            loop = .unopened(poll: poll)
            loop.sockets.opened(socket, as: .secure)
            writes = SharedWrites(on: socket, loop)
        }

        deinit { for descriptor in [socket, peer, poll] { close(descriptor) } }

        private func write(_ bytes: [UInt8]) -> Int { bytes.withUnsafeBytes { writes.write($0) } }

        /// All bytes that have arrived.
        private func received() -> [UInt8] {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(peer, &chunk, chunk.count)
                guard count > 0 else { return bytes }
                bytes += chunk.prefix(count)
            }
        }

        private func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
            (start..<start + count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        }

        @Test func recordsOfATurnAreWrittenTogether() {
            #expect(write([1, 2]) == 2 && write([3]) == 1)
            #expect(received().isEmpty)
            #expect(loop.unflushed.count == 1)
            loop.flushWrites()
            #expect(received() == [1, 2, 3])
            #expect(loop.unflushed.isEmpty)
            #expect(write([4]) == 1)
            loop.flushWrites()
            #expect(received() == [4])
        }

        @Test func whatDoesNotFitIsWrittenAtOnce() {
            #expect(write(pattern(10_000)) == 10_000)
            #expect(write(pattern(10_000, from: 10_000)) == 10_000)
            #expect(received() == pattern(10_000))
            loop.flushWrites()
            #expect(received() == pattern(10_000, from: 10_000))
            #expect(write([1]) == 1)
            #expect(write(pattern(20_000)) == 20_000)
            #expect(received() == [1] + pattern(20_000))
        }

        @Test func flushWritesBeforeTheTurnEnds() {
            #expect(write([1]) == 1)
            #expect(writes.flush())
            #expect(received() == [1])
            loop.flushWrites()
            #expect(received().isEmpty)
        }

        @Test func fullSocketDelaysWritesAndLosesNothing() {
            // With a small buffer, the socket accepts a part of the records.
            var size: Int32 = 4096
            setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            var sent = 0
            var accepted = 0
            while accepted >= 0 {
                accepted = write(pattern(7_000, from: sent))
                sent += max(accepted, 0)
            }
            #expect(loop.sockets.flushing(on: socket) === writes)
            #expect(!writes.flush())
            var arrived: [UInt8] = []
            while !writes.flush() { arrived += received() }
            #expect(loop.sockets.flushing(on: socket) == nil)
            arrived += received()
            #expect(write([255]) == 1)
            loop.flushWrites()
            arrived += received()
            #expect(arrived.count == sent + 1 && arrived.last == 255)
            let isUnchanged = arrived.dropLast().elementsEqual(pattern(sent))
            #expect(isUnchanged)
        }

        @Test func failedWritesAreLeftToTheReader() {
            shutdown(peer, Int32(SHUT_RDWR))
            #expect(write([1]) == 1)
            #expect(writes.flush())
            #expect(write(pattern(40_000)) == 40_000)
            loop.flushWrites()
            #expect(loop.sockets.flushing(on: socket) == nil)
        }

        /// OpenSSL writes records, flushes after an alert, and frees the BIO with its connection.
        @Test func openSSLWritesFlushesAndFrees() throws {
            let write = try Self.function("BIO_write", as: BIOWrite.self)
            let control = try Self.function("BIO_ctrl", as: BIOControl.self)
            let free = try Self.function("BIO_free", as: BIOFree.self)
            let writers = try #require(TLSLibrary.loaded?.writers)
            weak var released: SharedWrites?
            do {
                let writes = SharedWrites(on: socket, loop)
                released = writes
                let writer = try #require(writers.writer(to: writes))
                #expect(write(writer, [1, 2, 3] as [UInt8], 3) == 3)
                #expect(received().isEmpty)
                // `BIO_CTRL_FLUSH` in OpenSSL's headers.
                #expect(control(writer, 11, 0, nil) == 1)
                #expect(received() == [1, 2, 3])
                #expect(write(writer, [4] as [UInt8], 1) == 1)
                #expect(free(writer) == 1)
            }
            #expect(released == nil)
            #expect(loop.unflushed.isEmpty)
            loop.flushWrites()
            #expect(received().isEmpty)
        }

        private typealias BIOWrite =
            @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer, Int32) -> Int32
        private typealias BIOControl =
            @convention(c) (UnsafeMutableRawPointer, Int32, Int, UnsafeMutableRawPointer?) -> Int
        private typealias BIOFree = @convention(c) (UnsafeMutableRawPointer) -> Int32

        private static func function<Function>(_ name: String, as: Function.Type) throws -> Function
        {
            unsafeBitCast(try #require(dlsym(nil, name)), to: Function.self)
        }

        @Test func unwatchedSocketIsWatchedUntilTheWritesAreWritten() {
            var accepted = 0
            while accepted >= 0 { accepted = write(pattern(7_000)) }
            loop.sockets.unwatch(socket)
            loop.sockets.watchFlush(socket)
            _ = received()
            #expect(watchesOutput)
            while !writes.flush() { _ = received() }
            #expect(!watchesOutput)
        }

        /// Whether the loop's epoll set reports that the socket is writable.
        private var watchesOutput: Bool {
            var event = epoll_event()
            return epoll_wait(poll, &event, 1, 0) == 1
                && errand_event_flags(&event) & errand_epoll_out != 0
        }

        @Test func closedConnectionIsNotFlushed() {
            #expect(write([1]) == 1)
            writes.connectionWasFreed()
            #expect(loop.unflushed.isEmpty)
            loop.flushWrites()
            #expect(received().isEmpty)
        }
    }
#endif
