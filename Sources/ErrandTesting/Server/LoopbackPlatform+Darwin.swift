#if canImport(Darwin)
    import Darwin

    /// Where socket calls differ between systems.
    enum LoopbackPlatform {
        static let stream = SOCK_STREAM
        static let bothWays = SHUT_RDWR
        static let sending = SHUT_WR
        /// Only a full hang-up is reported here, and that without being asked for.
        static let peerGone: Int16 = 0

        static func prepare(_ socket: LoopbackSocket) {
            // A client that has gone would else end the process by SIGPIPE.
            var one: Int32 = 1
            setsockopt(
                socket.descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one,
                socklen_t(MemoryLayout<Int32>.size))
        }

        static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
            Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        }

        static func close(_ descriptor: Int32) -> Int32 { Darwin.close(descriptor) }
    }
#endif
