import ErrandHTTP

/// A set of media types and patterns such as `image/*` and `*+json`.
///
/// Comparison ignores case and parameters (RFC 9110 §8.3.1).
package final class ContentTypePatterns: Sendable {
    private let types: Set<String>
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

    package static func automatic(for serializer: ResponseSerializer) -> ContentTypePatterns? {
        switch serializer {
        case .json: json
        case .plist: plist
        case .xml: xml
        case .data, .string, .custom: nil
        case .compound(let serializers): union(of: serializers)
        }
    }

    /// The union of all serializers' types; `nil` if one of them accepts every type.
    private static func union(of serializers: [ResponseSerializer]) -> ContentTypePatterns? {
        var all: Set<String> = []
        for serializer in serializers {
            guard let patterns = automatic(for: serializer) else { return nil }
            all.formUnion(patterns.types)
        }
        return ContentTypePatterns(all)
    }

    package func match(_ contentType: String) -> Bool {
        if contentType == mostCommon || exact.contains(contentType) { return true }
        let essence = contentType.prefix(upToByte: ";").trimmingBlanks().lowercasedASCII()
        return exact.contains(essence) || exact.contains(Self.every)
            || prefixes.contains { essence.starts(withBytes: $0) }
            || suffixes.contains { essence.ends(withBytes: $0) }
    }

    private static let every = "*/*"

    private static let json = ContentTypePatterns(
        [
            "application/json", "text/json", "text/javascript", "*+json",
            "application/json; charset=utf-8", "application/json;charset=utf-8",
        ], mostCommon: "application/json")
    private static let plist = ContentTypePatterns([
        "application/x-plist", "application/x-apple-plist", "*+plist",
    ])
    private static let xml = ContentTypePatterns(["application/xml", "text/xml", "*+xml"])
}
