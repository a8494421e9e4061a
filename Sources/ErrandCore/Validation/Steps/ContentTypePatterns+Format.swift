extension ContentTypePatterns {
    /// The content types of a format; `nil` if it accepts every type.
    package static func automatic(for format: RequestDescription.Acceptance.Format)
        -> ContentTypePatterns?
    {
        switch format {
        case .json: json
        case .propertyList: plist
        case .xml: xml
        case .automatic, .any, .text, .custom: nil
        case .firstOf(let formats): union(of: formats)
        }
    }

    /// The union of all formats' types; `nil` if one of them accepts every type.
    private static func union(of formats: [RequestDescription.Acceptance.Format])
        -> ContentTypePatterns?
    {
        var all: Set<String> = []
        for format in formats {
            guard let patterns = automatic(for: format) else { return nil }
            all.formUnion(patterns.types)
        }
        return ContentTypePatterns(all)
    }
}
