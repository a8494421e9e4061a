import Foundation
import Glibc
import Synchronization

/// A loopback server whose script controls every byte.
///
/// Each connection runs the script on its own thread.
final class RawServer: Sendable {
    typealias Script = @Sendable (RawConnection) -> Void

    let port: Int
    private let listener: Listener
    private let counter = Mutex(0)

    /// The listening socket, closed once, by the accepting thread.
    ///
    /// Its number is reused at once, so a later use of the old number would accept connections of
    /// another socket.
    private final class Listener: Sendable {
        private let descriptor: Int32
        private let isOpen = Mutex(true)

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        /// Returns the next connection; `nil` after the server has stopped.
        func next() -> Int32? {
            while true {
                let peer = accept(descriptor, nil, nil)
                if peer >= 0 { return peer }
                if errno == EINTR || errno == ECONNABORTED { continue }
                isOpen.withLock { isOpen in
                    isOpen = false
                    Glibc.close(descriptor)
                }
                return nil
            }
        }

        func stop() {
            isOpen.withLock { isOpen in
                if isOpen { shutdown(descriptor, Int32(SHUT_RDWR)) }
            }
        }
    }

    /// Listens on a free port of 127.0.0.1, or on this address and port.
    init(on host: String = "127.0.0.1", port: Int = 0, _ script: @escaping Script) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(host)
        address.sin_port = in_port_t(port).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 1024) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard descriptor >= 0, bound else { throw POSIXError(.EADDRNOTAVAIL) }
        let listener = Listener(descriptor)
        self.listener = listener
        self.port = Int(UInt16(bigEndian: address.sin_port))
        let thread = Thread { [weak self] in
            while let peer = listener.next() {
                let number = self?.counter.withLock { count in
                    count += 1
                    return count
                }
                Thread.detachNewThread {
                    let connection = RawConnection(peer, number: number ?? 0)
                    script(connection)
                    connection.close()
                }
            }
        }
        thread.start()
    }

    deinit { stop() }

    /// The number of accepted connections.
    var connections: Int { counter.withLock { $0 } }

    func stop() { listener.stop() }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}

/// A connection, used by one thread.
final class RawConnection {
    /// The number of the connection; the first is 1.
    let number: Int
    /// The number of responses sent with ``respond(_:)``.
    private(set) var responseCount = 0
    private var descriptor: Int32
    private var pending: [UInt8] = []

    init(_ descriptor: Int32, number: Int) {
        self.descriptor = descriptor
        self.number = number
    }

    /// Reads the next head including its blank line; `nil` at the end of the connection.
    func readHead() -> String? {
        while true {
            if let end = Self.end(of: pending) {
                let head = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeFirst(end)
                return head
            }
            guard fill() else { return nil }
        }
    }

    /// Reads this many bytes; fewer at the end of the connection.
    func readBody(_ count: Int) -> [UInt8] {
        while pending.count < count, fill() {}
        let body = Array(pending.prefix(count))
        pending.removeFirst(body.count)
        return body
    }

    /// Reads the body that a head announces.
    func readBody(of head: String) -> [UInt8] {
        for line in head.lowercased().split(whereSeparator: \.isNewline) {
            if line.hasPrefix("content-length:") {
                return readBody(
                    Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces)) ?? 0)
            }
            if line.hasPrefix("transfer-encoding:") { return readChunks() }
        }
        return []
    }

    /// Waits for the start of the next request without reading it; false at the end of the
    /// connection.
    func waitForBytes() -> Bool {
        var byte: UInt8 = 0
        return !pending.isEmpty || recv(descriptor, &byte, 1, Int32(MSG_PEEK)) > 0
    }

    /// Sends a 200 response with this text.
    func respond(_ text: String) {
        responseCount += 1
        write("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
    }

    /// Reads and decodes a chunked body.
    func readChunks() -> [UInt8] {
        var body: [UInt8] = []
        while let line = readLine() {
            let size = Int(line.prefix { $0 != ";" }, radix: 16) ?? 0
            if size == 0 {
                _ = readLine()
                return body
            }
            body += readBody(size)
            _ = readLine()
        }
        return body
    }

    /// Waits for the peer to close.
    func waitForClose() {
        while fill() { pending.removeAll() }
    }

    func readLine() -> String? {
        while true {
            if let end = pending.firstIndex(of: 0x0A) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeFirst(end + 1)
                return line.replacing("\r", with: "")
            }
            guard fill() else { return nil }
        }
    }

    /// Sends text; false if the peer has closed.
    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Closes so that the peer sees a reset.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Ends this direction; the peer may continue to send.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    private func fill() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        pending += buffer[..<count]
        return true
    }

    private static func end(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in 0...(bytes.count - 4) where bytes[index] == 0x0D {
            if bytes[index + 1] == 0x0A, bytes[index + 2] == 0x0D, bytes[index + 3] == 0x0A {
                return index + 4
            }
        }
        return nil
    }
}
