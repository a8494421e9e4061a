import ErrandHTTP
import Foundation
import Glibc

@testable import ErrandWebSocket

/// The values of ErrandWebSocket on a blocking socket, for tests against servers of others.
final class BlockingWebSocket {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// A whole message.
    struct Message: Hashable {
        var isText: Bool
        var bytes: [UInt8] = []

        init(isText: Bool, bytes: [UInt8] = []) {
            (self.isText, self.bytes) = (isText, bytes)
        }
    }

    let agreement: WebSocketHandshake.Agreement
    /// The round trips of PINGs.
    private(set) var roundTrips: [Duration] = []
    /// The end, after which the socket is closed.
    private(set) var end: WebSocketState.End?
    private let descriptor: Int32
    private let clock = SystemClock()
    private var state: WebSocketState
    private var output = WebSocketBuffer()
    /// Bytes that were read; those before the offset were used.
    private var input: [UInt8]
    private var offset = 0
    private var partial = Message(isText: false)

    /// Connects to a server on loopback.
    init(
        port: Int, target: String, subprotocols: [String] = [], deflate: DeflateExtension? = nil,
        limits: WebSocketState.Limits = WebSocketState.Limits()
    ) throws {
        descriptor = try Self.connect(port)
        do {
            let handshake = try WebSocketHandshake(subprotocols: subprotocols, deflate: deflate)
            var headers = HTTPFields()
            handshake.apply(to: &headers)
            var head = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
            for field in headers { head += "\(field.name): \(field.value)\r\n" }
            try Self.send(Array((head + "\r\n").utf8)[...], to: descriptor)
            let (status, fields, rest) = try Self.readHead(descriptor)
            guard status == "101" else { throw Failure(description: "status \(status)") }
            input = rest
            agreement = try handshake.agreement(fields)
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
        state = WebSocketState(limits, deflate: agreement.deflate, at: clock.uptime)
    }

    deinit { _ = Glibc.close(descriptor) }

    /// The next message; `nil` at the end.
    func receive() throws -> Message? {
        while end == nil {
            let event = input.withUnsafeBytes { bytes in
                var rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                let event = state.next(&rest, at: clock.uptime, into: &output)
                offset = bytes.count - rest.count
                if case .content(let content) = event {
                    partial.isText = content.isText
                    partial.bytes += content.bytes
                }
                return event
            }
            switch event {
            case .content(let content) where content.endsMessage:
                defer { partial.bytes = [] }
                return partial
            case .content: break
            case .roundTrip(let duration): roundTrips.append(duration)
            case .ended(let end): try finish(end)
            case .needsInput:
                try flush()
                try read()
            }
        }
        return nil
    }

    /// Sends a message.
    func send(_ message: Message) throws {
        let isSent = message.bytes.withUnsafeBytes {
            state.send($0, isText: message.isText, into: &output)
        }
        guard isSent else { throw Failure(description: "the connection is not open") }
        try flush()
    }

    /// Sends a fragment of a message.
    func sendFragment(_ message: Message, endsMessage: Bool) throws {
        let isSent = message.bytes.withUnsafeBytes {
            state.sendFragment(
                $0, isText: message.isText, endsMessage: endsMessage, into: &output)
        }
        guard isSent else { throw Failure(description: "the connection is not open") }
        try flush()
    }

    /// Sends a close frame; ``receive()`` returns `nil` when the server has closed, too.
    func close(_ code: CloseCode, reason: String = "") throws {
        guard state.close(code, reason: reason, at: clock.uptime, into: &output) else {
            throw Failure(description: "\(code) was not sent")
        }
        try flush()
    }

    /// Sends a PING that is due after a duration.
    func ping(after duration: Duration) throws {
        if case .ended(let end) = state.check(at: clock.uptime + duration, into: &output) {
            return try finish(end)
        }
        try flush()
    }

    /// Sends the rest, and waits until the server closes the connection (RFC 6455 §7.1.1).
    private func finish(_ end: WebSocketState.End) throws {
        self.end = end
        // A server may have closed its end already.
        try? flush()
        shutdown(descriptor, Int32(SHUT_WR))
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while Glibc.read(descriptor, &bytes, bytes.count) > 0 {}
    }

    private func flush() throws {
        while !output.isEmpty {
            let count = Glibc.send(
                descriptor, output.contents.baseAddress, output.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { throw Failure(description: "send: errno \(errno)") }
            output.removeFirst(count)
        }
    }

    private func read() throws {
        input = [UInt8](unsafeUninitializedCapacity: 1 << 16) { room, count in
            count = max(0, Glibc.read(descriptor, room.baseAddress, room.count))
        }
        offset = 0
        if input.isEmpty, let end = state.inputEnded() { try finish(end) }
    }

    // MARK: - Connecting

    private static func connect(_ port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // A test that hangs would end without a message.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var one: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            _ = Glibc.close(descriptor)
            throw Failure(description: "connect to port \(port): errno \(errno)")
        }
        return descriptor
    }

    private static func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "send: errno \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    /// The status and the fields of the response, and the bytes after its head.
    private static func readHead(
        _ descriptor: Int32
    ) throws -> (status: String, fields: HTTPFields, rest: [UInt8]) {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 1 << 12)
        let end = Array("\r\n\r\n".utf8)
        while true {
            let count = Glibc.read(descriptor, &room, room.count)
            guard count > 0 else { throw Failure(description: "the head ended: errno \(errno)") }
            bytes += room[..<count]
            let start = bytes.indices.first { bytes[$0...].starts(with: end) }
            guard let start else { continue }
            var lines = String(decoding: bytes[..<start], as: UTF8.self).components(
                separatedBy: "\r\n")
            let status = lines.removeFirst().split(separator: " ").dropFirst().first ?? ""
            var fields = HTTPFields()
            for line in lines {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
                    continue
                }
                fields.append(
                    HTTPField(name: name, value: parts[1].trimmingCharacters(in: .whitespaces)))
            }
            return (String(status), fields, Array(bytes[(start + 4)...]))
        }
    }
}
