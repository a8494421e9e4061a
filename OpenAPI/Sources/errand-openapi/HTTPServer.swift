import ErrandOpenAPI
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A server on loopback that handles one connection after another, each with one request.
struct HTTPServer {
    private static let maximumBytes = 16 << 20

    private let socket: Int32
    /// The port on which it listens.
    let port: Int

    /// Listens on a port of 127.0.0.1; 0 lets the system choose.
    init(port: Int) throws(Failure) {
        #if canImport(Glibc)
            socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket = Self.makeSocket()
        #endif
        guard socket >= 0 else { throw Failure(message: "There is no socket: \(errno)") }
        var one: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(clamping: port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.socket
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) == 0 }
        }
        guard isBound, listen(listener, 64) == 0 else {
            throw Failure(message: "The port \(port) cannot be used: \(errno)")
        }
        var length = size
        var bound = sockaddr_in()
        withUnsafeMutablePointer(to: &bound) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = getsockname(listener, pointer, &length)
            }
        }
        self.port = Int(UInt16(bigEndian: bound.sin_port))
    }

    #if !canImport(Glibc)
        private static func makeSocket() -> Int32 {
            #if canImport(Musl)
                Musl.socket(AF_INET, SOCK_STREAM, 0)
            #else
                Darwin.socket(AF_INET, SOCK_STREAM, 0)
            #endif
        }
    #endif

    /// Responds to requests until the process ends.
    func run(_ respond: (FakeService.Request) -> FakeService.Response) -> Never {
        signal(SIGPIPE, SIG_IGN)
        while true {
            let connection = accept(socket, nil, nil)
            guard connection >= 0 else { continue }
            // A client that sends nothing must not stop the server.
            var limit = timeval(tv_sec: 5, tv_usec: 0)
            setsockopt(
                connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            serve(connection, respond)
            close(connection)
        }
    }

    private func serve(
        _ connection: Int32, _ respond: (FakeService.Request) -> FakeService.Response
    ) {
        var bytes: [UInt8] = []
        guard let end = readHead(connection, &bytes) else { return }
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        var lines = head.split(separator: "\r\n").makeIterator()
        let words = (lines.next() ?? "").split(separator: " ")
        guard words.count == 3 else { return }
        var headers: [String: String] = [:]
        while let line = lines.next() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        var body = Array(bytes[(end + 4)...])
        if headers["expect"]?.lowercased() == "100-continue" {
            write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), to: connection)
        }
        if headers["transfer-encoding"]?.lowercased() == "chunked" {
            guard let decoded = readChunks(connection, body) else { return }
            body = decoded
        } else {
            let length = min(Int(headers["content-length"] ?? "") ?? 0, Self.maximumBytes)
            while body.count < length, read(connection, &body) {}
        }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let response = respond(
            FakeService.Request(
                method: String(words[0]), path: String(target[0]),
                query: target.count > 1 ? String(target[1]) : "", headers: headers, body: body))
        var text = "HTTP/1.1 \(response.status) Response\r\n"
        for (name, value) in response.headers { text += "\(name): \(value)\r\n" }
        if response.status != 204 { text += "Content-Length: \(response.body.count)\r\n" }
        text += "Connection: close\r\n\r\n"
        write(Array(text.utf8) + (words[0] == "HEAD" ? [] : response.body), to: connection)
    }

    private func read(_ connection: Int32, _ bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0, bytes.count + count <= Self.maximumBytes else { return false }
        bytes += buffer[..<count]
        return true
    }

    /// The offset of the empty line after the head.
    private func readHead(_ connection: Int32, _ bytes: inout [UInt8]) -> Int? {
        while true {
            let end = Array("\r\n\r\n".utf8)
            if bytes.count >= 4,
                let start = (0...(bytes.count - 4)).first(where: {
                    bytes[$0] == end[0] && bytes[$0..<($0 + 4)].elementsEqual(end)
                })
            {
                return start
            }
            guard read(connection, &bytes) else { return nil }
        }
    }

    private func readChunks(_ connection: Int32, _ start: [UInt8]) -> [UInt8]? {
        var bytes = start
        var body: [UInt8] = []
        var position = 0
        while true {
            guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) else {
                guard read(connection, &bytes) else { return nil }
                continue
            }
            let line = String(decoding: bytes[position..<end], as: UTF8.self)
            let digits = line.prefix { $0.isHexDigit }
            guard let size = Int(digits, radix: 16), size <= Self.maximumBytes else { return nil }
            guard size > 0 else { return body }
            while bytes.count < end + 1 + size + 2 {
                guard read(connection, &bytes) else { return nil }
            }
            body += bytes[(end + 1)..<(end + 1 + size)]
            position = end + 1 + size + 2
        }
    }

    private func write(_ bytes: [UInt8], to connection: Int32) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes[offset...].withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, 0)
            }
            guard count > 0 else { return }
            offset += count
        }
    }
}
