import Foundation
import HTTPTypes

extension MultipartBody {
    /// The number of bytes where it is known without reading; `nil` with files and open streams.
    package var knownLength: Int64? {
        var total = Int64(closing.count)
        for part in parts {
            guard let length = part.body.knownLength else { return nil }
            let count = Int64(head(of: part).count) + Int64(Self.lineBreak.count)
            let (sum, overflows) = total.addingReportingOverflow(length)
            guard !overflows, sum <= .max - count else { return nil }
            total = sum + count
        }
        return total
    }

    /// Opens the body for one attempt; every file is looked at, none is kept open before its turn.
    ///
    /// - Throws: ``RequestError/Code/invalidBody``.
    package func makeSource() throws(RequestError) -> any BodySource {
        try checkBoundary()
        var segments: [ConcatenatedBodySource.Segment] = []
        for part in parts {
            try check(part)
            segments.append(.bytes(head(of: part)))
            segments.append(try segment(of: part.body))
            segments.append(.bytes(Self.lineBreak))
        }
        segments.append(.bytes(closing))
        return ConcatenatedBodySource(segments)
    }

    private func segment(of body: HTTPBody) throws(RequestError) -> ConcatenatedBodySource.Segment {
        switch body.storage {
        case .data(let data):
            return .bytes(data)
        case .file(let url):
            let length = try FileBodySource.checkedLength(of: url)
            return .init(length: length) { () throws(RequestError) in
                try FileBodySource(url, expectedLength: length)
            }
        case .stream(let length, _):
            return .init(length: length) { () throws(RequestError) in try body.makeSource() }
        case .source:
            // Makes one source to learn its length and to check its files, then another when it is its turn.
            let length = try body.makeSource().length
            return .init(length: length) { () throws(RequestError) in try body.makeSource() }
        }
    }

    private func head(of part: Part) -> Data {
        var text = "--\(boundary)\r\n"
        let hasOwn = { (name: HTTPField.Name) in part.headers.contains(name) }
        if let name = part.name, !hasOwn(.contentDisposition) {
            text += "Content-Disposition: form-data; name=\"\(Self.escaped(Self.lines(name)))\""
            if let filename = part.filename {
                text += "; filename=\"\(Self.escaped(filename))\""
                if part.sendsExtendedFilename { text += Self.extended(filename) }
            }
            text += "\r\n"
        }
        if let type = part.body.contentType, !hasOwn(.contentType) {
            text += "Content-Type: \(type)\r\n"
        }
        for field in part.headers { text += "\(field.name.rawName): \(field.value)\r\n" }
        return Data((text + "\r\n").utf8)
    }

    private var closing: Data { Data("--\(boundary)--\r\n".utf8) }

    private static let lineBreak = Data("\r\n".utf8)

    /// Line breaks of a name as CRLF, which is what a form has (WHATWG HTML §4.10.21.8).
    private static func lines(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return name }
        var bytes: [UInt8] = []
        var previous: UInt8 = 0
        for byte in name.utf8 {
            if byte == 0x0A || byte == 0x0D {
                if !(byte == 0x0A && previous == 0x0D) { bytes += [0x0D, 0x0A] }
            } else {
                bytes.append(byte)
            }
            previous = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A name that cannot leave its quotes (WHATWG HTML §4.10.21.8).
    private static func escaped(_ name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case 0x0A: bytes += "%0A".utf8
            case 0x0D: bytes += "%0D".utf8
            case UInt8(ascii: "\""): bytes += "%22".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The name in the form of RFC 8187, for one that ASCII cannot hold.
    private static func extended(_ name: String) -> String {
        guard !name.utf8.allSatisfy({ $0 < 0x80 }) else { return "" }
        var bytes = Array("; filename*=UTF-8''".utf8)
        PercentEncoding.append(name.utf8, keeping: extendedBytes, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let extendedBytes = ByteSet.alphanumeric.union("!#$&+-.^_`|~")

    private func checkBoundary() throws(RequestError) {
        let isValid =
            (1...70).contains(boundary.utf8.count) && boundary.last != " "
            && boundary.utf8.allSatisfy(Self.boundaryBytes.contains)
        guard isValid else {
            throw invalid(
                "The multipart boundary must have 1 to 70 letters, digits or '()+_,-./:=? and must not "
                    + "end with a space (RFC 2046). Leave it out to get a random one.")
        }
    }

    private func check(_ part: Part) throws(RequestError) {
        guard let type = part.body.contentType else { return }
        guard type.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw invalid(
                "The content type of the part \((part.name ?? "").debugDescription) holds a line break or "
                    + "another control character.")
        }
    }

    private func invalid(_ message: String) -> RequestError {
        RequestError(.invalidBody, stage: .build, message)
    }

    private static let boundaryBytes = ByteSet.alphanumeric.union("'()+_,-./:=? ")
}

extension ConcatenatedBodySource.Segment {
    fileprivate static func bytes(_ data: Data) -> Self {
        Self(length: Int64(data.count)) { DataBodySource(data) }
    }
}
