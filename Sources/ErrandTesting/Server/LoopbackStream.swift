import ErrandHTTP
import ErrandSystem

/// Reads request heads and bodies from a socket; bodies with Content-Length or in chunked coding.
struct LoopbackStream {
    struct Head {
        var method: String
        var target: String
        var version: String
        var headers: [LoopbackHeader]
    }

    private enum Framing {
        case none
        case length(Int)
        /// The number of bytes that remain of the current chunk; `nil` before a size line.
        case chunked(left: Int?)
    }

    /// The client disconnected or sent invalid HTTP.
    struct Ended: Error {}

    let socket: LoopbackSocket
    private var buffer: [UInt8] = []
    private var position = 0
    private var scratch = [UInt8](repeating: 0, count: 64 << 10)
    private var framing = Framing.none
    /// The trailers of the current request, complete with its body.
    private(set) var trailers: [LoopbackHeader] = []

    init(_ socket: LoopbackSocket) { self.socket = socket }

    private static let maximumLine = 8 << 20

    /// Reads the next request head; throws if the client disconnects.
    mutating func readHead() throws(Ended) -> Head {
        var line = try readLine()
        // An empty line before the request line is ignored (RFC 9112 §2.2).
        if line.isEmpty { line = try readLine() }
        let words = line.pieces(at: " ", keepingEmpty: true).map(String.init)
        guard words.count == 3 else { throw Ended() }
        let headers = try readFields()
        trailers = []
        let head = Head(method: words[0], target: words[1], version: words[2], headers: headers)
        framing = Self.framing(of: headers)
        return head
    }

    /// Reads field lines up to an empty line.
    private mutating func readFields() throws(Ended) -> [LoopbackHeader] {
        var fields: [LoopbackHeader] = []
        while true {
            let line = try readLine()
            if line.isEmpty { return fields }
            guard let colon = line.firstIndex(ofByte: ":") else { throw Ended() }
            let value = line.utf8[line.utf8.index(after: colon)...]
                .drop(while: ByteSet(" \t").contains)
            fields.append(LoopbackHeader(String(line[..<colon]), String(Substring(value))))
        }
    }

    private static func framing(of headers: [LoopbackHeader]) -> Framing {
        func value(_ name: String) -> String? {
            headers.first { $0.name.lowercasedASCII() == name }?.value
        }
        if value("transfer-encoding")?.lowercasedASCII().ends(withBytes: "chunked") == true {
            return .chunked(left: nil)
        }
        if let length = value("content-length").flatMap({ Int($0) }), length > 0 {
            return .length(length)
        }
        return .none
    }

    /// Whether body bytes remain to be read.
    var hasBody: Bool {
        if case .none = framing { return false }
        return true
    }

    /// Reads the next bytes of the body; returns `nil` at its end.
    ///
    /// Throws if the client disconnects before the end.
    mutating func readBody(upTo limit: Int) throws(Ended) -> [UInt8]? {
        switch framing {
        case .none: return nil
        case .length(let left):
            let bytes = try readSome(upTo: min(left, limit))
            framing = left > bytes.count ? .length(left - bytes.count) : .none
            return bytes
        case .chunked(let left?):
            let bytes = try readSome(upTo: min(left, limit))
            if left == bytes.count {
                _ = try readLine()
                framing = .chunked(left: nil)
            } else {
                framing = .chunked(left: left - bytes.count)
            }
            return bytes
        case .chunked(nil):
            let size = try readLine().prefix(upToByte: ";")
            guard let count = Int(size, radix: 16), count >= 0 else { throw Ended() }
            guard count > 0 else {
                trailers = try readFields()
                framing = .none
                return nil
            }
            framing = .chunked(left: count)
            return try readBody(upTo: limit)
        }
    }

    /// Reads the next bytes of whatever follows the head; throws at the end.
    mutating func readBytes() throws(Ended) -> [UInt8] { try readSome(upTo: .max) }

    private mutating func readSome(upTo limit: Int) throws(Ended) -> [UInt8] {
        if position == buffer.count { try fill() }
        let count = min(limit, buffer.count - position)
        defer { position += count }
        return Array(buffer[position..<(position + count)])
    }

    private mutating func readLine() throws(Ended) -> String {
        var scanned = position
        while true {
            if let end = buffer[scanned...].firstIndex(of: 0x0A) {
                let hasReturn = end > position && buffer[end - 1] == 0x0D
                let line = buffer[position..<(hasReturn ? end - 1 : end)]
                position = end + 1
                return String(decoding: line, as: UTF8.self)
            }
            guard buffer.count - position < Self.maximumLine else { throw Ended() }
            let kept = buffer.count - position
            try fill()
            scanned = position + kept
        }
    }

    /// Discards the bytes that were read and appends bytes from the socket.
    private mutating func fill() throws(Ended) {
        buffer.removeFirst(position)
        position = 0
        let count = scratch.withUnsafeMutableBytes { socket.receive(into: $0) }
        guard count > 0 else { throw Ended() }
        buffer += scratch[..<count]
    }
}
