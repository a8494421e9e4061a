import ErrandSystem

/// A POSIX socket.
///
/// The creator must close it.
struct LoopbackSocket: Sendable {
    let descriptor: Int32

    /// Creates a socket that listens on loopback, on a port that the system chooses.
    static func listening(
        ipv6: Bool, backlog: Int32 = 1024, receiveBuffer: Int32? = nil, sendBuffer: Int32? = nil
    ) throws -> (socket: LoopbackSocket, port: Int) {
        let socket = try make(ipv6: ipv6)
        var one: Int32 = 1
        setsockopt(
            socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        if var size = receiveBuffer {
            // Accepted connections inherit the size. It must be set before listen() to limit the TCP window.
            setsockopt(
                socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size,
                socklen_t(MemoryLayout<Int32>.size))
        }
        if var size = sendBuffer {
            setsockopt(
                socket.descriptor, SOL_SOCKET, SO_SNDBUF, &size,
                socklen_t(MemoryLayout<Int32>.size))
        }
        do {
            try socket.bindToLoopback(ipv6: ipv6, port: 0)
            guard listen(socket.descriptor, backlog) == 0 else { throw POSIXError.last }
            return (socket, try socket.localPort(ipv6: ipv6))
        } catch {
            socket.close()
            throw error
        }
    }

    /// Creates a socket that is bound but does not listen: the port is reserved and refuses connections.
    static func bound() throws -> (socket: LoopbackSocket, port: Int) {
        let socket = try make(ipv6: false)
        do {
            try socket.bindToLoopback(ipv6: false, port: 0)
            return (socket, try socket.localPort(ipv6: false))
        } catch {
            socket.close()
            throw error
        }
    }

    static func make(ipv6: Bool) throws -> LoopbackSocket {
        let descriptor = socket(ipv6 ? AF_INET6 : AF_INET, LoopbackPlatform.stream, 0)
        guard descriptor >= 0 else { throw POSIXError.last }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return LoopbackSocket(descriptor: descriptor)
    }

    /// Accepts the next connection; returns `nil` after an error.
    func accepted() -> LoopbackSocket? {
        while true {
            let descriptor = accept(self.descriptor, nil, nil)
            if descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                let socket = LoopbackSocket(descriptor: descriptor)
                // A response is sent in several writes; without TCP_NODELAY the second would wait for the
                // client's delayed ACK.
                var one: Int32 = 1
                setsockopt(
                    descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one,
                    socklen_t(MemoryLayout<Int32>.size))
                LoopbackPlatform.prepare(socket)
                return socket
            }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    /// Waits for bytes and reads them; returns 0 at the end or after an error.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count >= 0 { return count }
            guard errno == EINTR else { return 0 }
        }
    }

    /// Sends all bytes; returns false after an error.
    func send(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                let count = LoopbackPlatform.send(descriptor, rest)
                if count > 0 {
                    sent += count
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }

    /// Shuts down both directions, which wakes all threads that read or write the socket.
    func shutDown() { _ = shutdown(descriptor, LoopbackPlatform.bothWays) }

    func finishSending() { _ = shutdown(descriptor, LoopbackPlatform.sending) }

    func close() { _ = LoopbackPlatform.close(descriptor) }

    /// Closes the socket so that the peer receives RST instead of FIN.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Waits until the peer closes the connection, the socket is shut down, or the pipe has a byte.
    func waitForPeerClose(or pipe: LoopbackPipe) {
        var polled = [
            pollfd(fd: descriptor, events: LoopbackPlatform.peerGone, revents: 0),
            pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&polled, 2, -1) < 0, errno == EINTR {}
    }

    /// Waits until a connection can be accepted; returns false if the pipe has a byte.
    func waitForConnection(or pipe: LoopbackPipe) -> Bool {
        var polled = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&polled, 2, -1) < 0, errno == EINTR {}
        return polled[1].revents == 0
    }

    private func bindToLoopback(ipv6: Bool, port: UInt16) throws {
        let result: Int32
        if ipv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        } else {
            var address = Self.ipv4Loopback(port: port)
            result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        guard result == 0 else { throw POSIXError.last }
    }

    static func ipv4Loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        return address
    }

    private func localPort(ipv6: Bool) throws -> Int {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        guard result == 0 else { throw POSIXError.last }
        return withUnsafeBytes(of: &storage) { bytes in
            // The port has the same offset in both address families.
            Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        }
    }
}

/// A pipe that wakes a thread from `poll`.
struct LoopbackPipe: Sendable {
    let reader: Int32
    let writer: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw POSIXError.last }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = ends[0]
        writer = ends[1]
    }

    func wake() {
        var byte: UInt8 = 1
        _ = write(writer, &byte, 1)
    }

    func close() {
        _ = LoopbackPlatform.close(reader)
        _ = LoopbackPlatform.close(writer)
    }
}
