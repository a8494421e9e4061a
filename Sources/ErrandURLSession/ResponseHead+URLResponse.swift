import ErrandCore
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension ResponseHead {
    private static let mostFields = 10_000

    /// A head of what URLSession keeps of it: names re-capitalised, duplicates joined, no order.
    init(_ response: HTTPURLResponse) {
        var headers = HTTPFields()
        let pairs = response.allHeaderFields.compactMap { key, value -> (String, String)? in
            guard let name = key as? String, let value = value as? String else { return nil }
            return (name, value)
        }
        // By name: a dictionary's order changes from run to run.
        for (text, value) in pairs.sorted(by: { $0.0 < $1.0 }) {
            guard let name = HTTPField.Name(text) else { continue }
            var values = name == .setCookie ? SetCookieLines.split(value) : [value]
            // HTTPFields traps above 65,535: what would be too many stays in one piece, whose size is judged next.
            if headers.count + values.count > Self.mostFields { values = [value] }
            for value in values { headers.append(HTTPField(name: name, value: value)) }
        }
        self.init(
            status: HTTPResponse.Status(code: min(max(response.statusCode, 0), 999)),
            headers: headers)
        if !isEncoded { contentLength = headers[.contentLength].flatMap { Int64($0) } }
    }

    /// Whether the body is decoded on its way.
    var isEncoded: Bool {
        headers[.contentEncoding].map { !["", "identity", "none"].contains($0.lowercased()) }
            ?? false
    }

    /// Whether a transfer coding was named that changes nothing, `identity` or an empty one, beside a length.
    ///
    /// NB: libcurl then waits for the connection's end, and the length is what says where the body ends.
    var hidesLength: Bool {
        guard status.code != 204, status.code != 304, contentLength != nil else { return false }
        return headers[.transferEncoding].map { ["", "identity"].contains($0.lowercased()) }
            ?? false
    }

    /// About how many bytes the head had on the wire.
    var wireSize: Int {
        headers.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 }
    }

    /// The body's length on the wire, where it is announced and encoded.
    var encodedLength: Int64? {
        contentLength == nil ? headers[.contentLength].flatMap { Int64($0) } : nil
    }

    /// Whether lengths are announced that differ from each other (RFC 9112 §6.3), or cannot be lengths.
    var hasContradictoryLength: Bool {
        guard let text = headers[.contentLength] else { return false }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let isNumber = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        return !isNumber || Set(parts).count > 1
    }
}

/// `Set-Cookie` lines that URLSession has joined with commas, taken apart again.
enum SetCookieLines {
    /// Splits at commas that are followed by `name=`; the comma in a date is not.
    static func split(_ text: String) -> [String] {
        var lines: [String] = []
        var start = text.startIndex
        var index = text.startIndex
        while let comma = text[index...].firstIndex(of: ",") {
            index = text.index(after: comma)
            let rest = text[index...].drop { $0 == " " }
            let name = rest.prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " }
            if !name.isEmpty, rest[name.endIndex...].first == "=" {
                lines.append(String(text[start..<comma]))
                start = rest.startIndex
            }
        }
        lines.append(String(text[start...]))
        return lines
    }
}
