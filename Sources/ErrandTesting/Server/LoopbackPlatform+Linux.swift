#if !canImport(Darwin)
    import ErrandSystem

    /// The socket constants and calls that differ between systems.
    enum LoopbackPlatform {
        static let stream = SocketConstant.stream
        static let bothWays = Int32(SHUT_RDWR)
        static let sending = Int32(SHUT_WR)
        /// `POLLRDHUP`: the peer closed its side.
        ///
        /// Unlike `POLLIN`, it does not report unread bytes.
        static let peerGone: Int16 = 0x2000

        static func prepare(_ socket: LoopbackSocket) {}

        static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
            ErrandSystem.send(
                descriptor, bytes.baseAddress, bytes.count, SocketConstant.noSignal)
        }

        static func close(_ descriptor: Int32) -> Int32 { ErrandSystem.close(descriptor) }
    }
#endif
