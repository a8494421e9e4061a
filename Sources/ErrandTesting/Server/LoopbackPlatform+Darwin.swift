#if canImport(Darwin)
    import ErrandSystem

    /// The socket constants and calls that differ between systems.
    enum LoopbackPlatform {
        static let stream = SocketConstant.stream
        static let bothWays = SHUT_RDWR
        static let sending = SHUT_WR
        /// No flag: `poll` always reports a full hang-up, and has no event for a half-closed peer.
        static let peerGone: Int16 = 0

        static func prepare(_ socket: LoopbackSocket) {
            // Otherwise a write to a closed connection ends the process with SIGPIPE.
            var one: Int32 = 1
            setsockopt(
                socket.descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one,
                socklen_t(MemoryLayout<Int32>.size))
        }

        static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
            ErrandSystem.send(descriptor, bytes.baseAddress, bytes.count, 0)
        }

        static func close(_ descriptor: Int32) -> Int32 { ErrandSystem.close(descriptor) }
    }
#endif
