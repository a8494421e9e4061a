#if canImport(Glibc) || canImport(Musl)
    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// Where socket calls differ between systems.
    enum LoopbackPlatform {
        #if canImport(Glibc)
            static let stream = Int32(SOCK_STREAM.rawValue)
        #else
            static let stream = SOCK_STREAM
        #endif
        static let bothWays = Int32(SHUT_RDWR)
        static let sending = Int32(SHUT_WR)
        /// `POLLRDHUP`: the peer closed its side; unlike `POLLIN` it is silent about bytes that wait.
        static let peerGone: Int16 = 0x2000

        static func prepare(_ socket: LoopbackSocket) {}

        static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
            // Without the flag, a client that has gone would end the process by SIGPIPE.
            Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }

        static func close(_ descriptor: Int32) -> Int32 { Glibc.close(descriptor) }
    }
#endif
