import ErrandHTTP

/// A set of media types and patterns such as `image/*` and `*+json`.
///
/// Comparison ignores case and parameters (RFC 9110 §8.3.1).
package final class ContentTypePatterns: Sendable {
    let types: Set<String>
    private let exact: Set<String>
    /// The most common type, compared first as a fast path.
    private let mostCommon: String?
    private let prefixes: [String]
    private let suffixes: [String]

    package init(_ types: Set<String>, mostCommon: String? = nil) {
        self.types = types
        self.mostCommon = mostCommon
        let lowered = types.map { $0.lowercasedASCII() }
        exact = Set(lowered)
        prefixes = lowered.compactMap { $0.dropping(suffix: "/*").map { $0 + "/" } }
        suffixes = lowered.compactMap { $0.dropping(prefix: "*").map { String($0) } }
            .filter { !$0.isEmpty }
    }

    package func match(_ contentType: String) -> Bool {
        if contentType == mostCommon || exact.contains(contentType) { return true }
        let essence = contentType.prefix(upToByte: ";").trimmingBlanks().lowercasedASCII()
        return exact.contains(essence) || exact.contains(Self.every)
            || prefixes.contains { essence.starts(withBytes: $0) }
            || suffixes.contains { essence.ends(withBytes: $0) }
    }

    private static let every = "*/*"

    static let json = ContentTypePatterns(
        [
            "application/json", "text/json", "text/javascript", "*+json",
            "application/json; charset=utf-8", "application/json;charset=utf-8",
        ], mostCommon: "application/json")
    static let plist = ContentTypePatterns([
        "application/x-plist", "application/x-apple-plist", "*+plist",
    ])
    static let xml = ContentTypePatterns(["application/xml", "text/xml", "*+xml"])
}
