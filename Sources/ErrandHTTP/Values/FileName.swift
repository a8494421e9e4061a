import Foundation

/// Creates safe file names from text that a server or a URL supplies; pure.
package enum FileName {
    /// The last segment of the path, percent-decoded, as a safe file name; `download` if there is none.
    package static func last(of url: URI) -> String {
        let segment = url.path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let decoded = segment.removingPercentEncoding ?? String(segment)
        return safe(decoded) ?? "download"
    }

    /// The text as a single path component; `nil` if it is empty, `.`, `..` or longer than 255 bytes.
    package static func safe(_ text: String) -> String? {
        let safe = String(
            text.unicodeScalars.map { scalar in
                let isSafe =
                    scalar.value >= 0x20 && scalar.value != 0x7f
                    && !"/\\".contains(Character(scalar))
                return isSafe ? Character(scalar) : "_"
            })
        guard !safe.isEmpty, safe != ".", safe != "..", safe.utf8.count <= 255 else { return nil }
        return safe
    }
}
