import Glibc

/// This process's end of a connection over loopback, found by its ports.
struct ClientSocket {
    private let descriptor: Int32

    /// Finds the socket that is connected from or to a port; `nil` if there is none, for example
    /// after a reset.
    init?(localPort: Int? = nil, remotePort: Int? = nil) {
        for descriptor in Int32(3)..<4096 {
            if let localPort, Self.port(descriptor, getsockname) != localPort { continue }
            if let remotePort, Self.port(descriptor, getpeername) != remotePort { continue }
            self.descriptor = descriptor
            return
        }
        return nil
    }

    /// The number of TCP segments with data that were sent (`tcpi_data_segs_out`, which glibc's
    /// `tcp_info` does not have).
    var segmentsSent: Int {
        var info = [UInt32](repeating: 0, count: 64)
        var length = socklen_t(info.count * MemoryLayout<UInt32>.size)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0,
            length >= 160
        else { return -1 }
        return Int(info[39])
    }

    /// Waits until the peer has sent something.
    func waitForInput() { wait(for: Int16(POLLIN)) }

    /// Waits until the connection has ended or was reset.
    func waitForHangUp() { wait(for: 0) }

    private func wait(for events: Int16) {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        while poll(&entry, 1, 60_000) < 0, errno == EINTR {}
    }

    private static func port(
        _ descriptor: Int32,
        _ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                name(descriptor, $0, &length)
            }
        }
        guard code == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
