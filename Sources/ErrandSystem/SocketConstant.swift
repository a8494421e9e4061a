/// Constants of sockets that differ between C libraries.
package enum SocketConstant {
    #if canImport(Glibc)
        package static let stream = Int32(SOCK_STREAM.rawValue)
        package static let datagram = Int32(SOCK_DGRAM.rawValue)
    #else
        package static let stream = SOCK_STREAM
        package static let datagram = SOCK_DGRAM
    #endif

    #if canImport(Darwin)
        /// No flag: the socket needs `SO_NOSIGPIPE`.
        package static let noSignal: Int32 = 0
    #else
        /// The flag of `send` without which a write to a closed connection ends the process with SIGPIPE.
        package static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    #if canImport(Glibc)
        /// A raw socket that does not block and that a new program does not inherit.
        package static let rawForEvents =
            Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    #elseif os(Linux)
        /// A raw socket that does not block and that a new program does not inherit.
        package static let rawForEvents = SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK
    #endif
}
