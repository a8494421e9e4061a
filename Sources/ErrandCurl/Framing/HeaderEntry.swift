import HTTPTypes

/// A field of a header block, with what the field means for a response.
///
/// A class: tables and caches pass entries on with one reference count.
final class HeaderEntry: Sendable, HeaderTableEntry {
    /// The bytes of a field that `HTTPField` cannot hold.
    final class Written: Sendable {
        let name: [UInt8]
        let value: [UInt8]

        init(name: [UInt8], value: [UInt8]) { (self.name, self.value) = (name, value) }
    }

    /// The field; of a malformed one, `written` has the bytes.
    let field: HTTPField
    let meaning: HeaderName.Meaning
    /// The status, for a `:status` of three digits; otherwise 0.
    let status: UInt16
    let written: Written?
    /// The size in the dynamic table (RFC 7541 §4.1).
    let size: Int

    /// Creates the entry of a name and a value.
    init(_ name: HeaderName, value: UnsafeRawBufferPointer) {
        size = name.count + value.count + 32
        field = HTTPField(name: name.name, lenientValue: value)
        var meaning = name.meaning
        var status: UInt16 = 0
        if meaning == .status {
            status = Self.status(value)
            if status == 0 { meaning = .malformed(.status) }
        } else if !Self.isValid(value), name.written == nil {
            meaning = .malformed(.value)
        }
        if case .malformed = meaning {
            written = Written(
                name: name.written ?? Array(name.name.canonicalName.utf8), value: Array(value))
        } else {
            written = nil
        }
        (self.meaning, self.status) = (meaning, status)
    }

    /// The name, for an entry with another value.
    var name: HeaderName {
        guard let written else { return HeaderName(field.name, meaning) }
        return written.name.withUnsafeBytes { HeaderName($0) }
    }

    /// The bytes of name and value.
    var bytes: (name: [UInt8], value: [UInt8]) {
        if let written { return (written.name, written.value) }
        return (Array(field.name.canonicalName.utf8), field.withUnsafeBytesOfValue { Array($0) })
    }

    /// Whether a field value contains no CR, LF or NUL and no blanks around it (RFC 9113 §8.2.1).
    private static func isValid(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let first = value.first, let last = value.last else { return true }
        if first == 0x20 || first == 0x09 || last == 0x20 || last == 0x09 { return false }
        for byte in value where byte <= 0x0D {
            if byte == 0 || byte == 0x0A || byte == 0x0D { return false }
        }
        return true
    }

    /// The number of three digits, at least 100; otherwise 0.
    private static func status(_ value: UnsafeRawBufferPointer) -> UInt16 {
        guard value.count == 3 else { return 0 }
        var status: UInt16 = 0
        for byte in value {
            guard (0x30...0x39).contains(byte) else { return 0 }
            status = status * 10 + UInt16(byte - 0x30)
        }
        return status < 100 ? 0 : status
    }
}

/// The name of a field in a header block (RFC 9113 §8.2, §8.3).
struct HeaderName: Sendable {
    /// The meaning of a name in a response.
    enum Meaning: Sendable, Hashable {
        case ordinary, contentLength, contentEncoding
        /// A field with a secret, which no cache keeps.
        case secret
        case status
        /// Another pseudo-header field, which no response has.
        case pseudo
        /// A field of HTTP/1.1 connections (RFC 9113 §8.2.2).
        case connectionSpecific
        /// `TE`, which may only be `trailers`.
        case te
        case malformed(Fault)
    }

    /// The fault of a malformed field.
    enum Fault: Sendable, Hashable { case name, upperCase, value, status }

    let name: HTTPField.Name
    let meaning: Meaning
    /// The bytes of a malformed name.
    let written: [UInt8]?

    /// The number of bytes.
    var count: Int { written?.count ?? name.canonicalName.utf8.count }

    init(_ name: HTTPField.Name, _ meaning: Meaning) {
        self.init(name, meaning, written: nil)
    }

    private init(_ name: HTTPField.Name, _ meaning: Meaning, written: [UInt8]?) {
        (self.name, self.meaning, self.written) = (name, meaning, written)
    }

    /// Creates a name from its bytes.
    init(_ bytes: UnsafeRawBufferPointer) {
        if let fault = Self.fault(of: bytes) {
            self.init(Self.placeholder, .malformed(fault), written: Array(bytes))
        } else if let name = HTTPField.Name(parsed: String(decoding: bytes, as: UTF8.self)) {
            self.init(name, Self.meaning(of: name.canonicalName))
        } else {
            self.init(Self.placeholder, .malformed(.name), written: Array(bytes))
        }
    }

    private static let placeholder = HTTPField.Name.te

    private static func fault(of name: UnsafeRawBufferPointer) -> Fault? {
        guard name.contains(where: { (0x41...0x5A).contains($0) }) else { return nil }
        return .upperCase
    }

    private static func meaning(of name: String) -> Meaning {
        switch name {
        case ":status": .status
        case "content-length": .contentLength
        case "content-encoding": .contentEncoding
        case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
            .connectionSpecific
        case "te": .te
        case "set-cookie", "set-cookie2", "location", "authentication-info", "www-authenticate",
            "proxy-authenticate":
            .secret
        default: name.utf8.first == UInt8(ascii: ":") ? .pseudo : .ordinary
        }
    }
}
