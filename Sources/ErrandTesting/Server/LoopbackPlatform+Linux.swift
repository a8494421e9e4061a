#if canImport(Glibc) || canImport(Musl)
    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// The socket constants and calls that differ between systems.
    enum LoopbackPlatform {
        #if canImport(Glibc)
            static let stream = Int32(SOCK_STREAM.rawValue)
        #else
            static let stream = SOCK_STREAM
        #endif
        static let bothWays = Int32(SHUT_RDWR)
        static let sending = Int32(SHUT_WR)
        /// `POLLRDHUP`: the peer closed its side.
        ///
        /// Unlike `POLLIN`, it does not report unread bytes.
        static let peerGone: Int16 = 0x2000

        static func prepare(_ socket: LoopbackSocket) {}

        static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
            // Without the flag, a write to a closed connection ends the process with SIGPIPE.
            sendBytes(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }

        static func close(_ descriptor: Int32) -> Int32 { closeDescriptor(descriptor) }
    }

    // Outside the enum, where the names of the C library are not hidden by its own functions. A module prefix
    // would differ between Glibc and Musl.

    private func sendBytes(
        _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32
    ) -> Int {
        send(descriptor, bytes, count, flags)
    }

    private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
#endif
