import Foundation
import HTTPTypes

/// What goes out with every request that does not say otherwise (row HDR-5).
enum DefaultHeaders {
    /// `Accept`, `User-Agent` and, where the environment names a language, `Accept-Language`.
    static let fields: HTTPFields = {
        var fields: HTTPFields = [.accept: "*/*", .userAgent: userAgent]
        if let languages = acceptLanguage(preferredLanguages) {
            fields[.acceptLanguage] = languages
        }
        return fields
    }()

    /// Names the framework and its version; what the system is called is nobody's business.
    static let userAgent = "Errand/\(version)"

    /// The framework's version.
    static let version = "0.1.0"

    private static var preferredLanguages: [String] {
        #if os(Linux)
            languages(ofEnvironment: ProcessInfo.processInfo.environment)
        #else
            Locale.preferredLanguages
        #endif
    }

    /// The languages of POSIX's variables in order of preference: `de_DE.UTF-8` is `de-DE`, then `de`.
    ///
    /// None for the locale `C`, under which most servers run: then no language is asked for.
    static func languages(ofEnvironment environment: [String: String]) -> [String] {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let locale = value("LC_ALL") ?? value("LC_MESSAGES") ?? value("LANG"),
            let first = tag(ofLocale: locale)
        else { return [] }
        let listed = (value("LANGUAGE") ?? "").split(separator: ":").compactMap {
            tag(ofLocale: String($0))
        }
        var result: [String] = []
        for tag in listed + [first] {
            for language in [tag, String(tag.prefix { $0 != "-" })] where !result.contains(language)
            {
                result.append(language)
            }
        }
        return result
    }

    /// The header's value: up to six languages, weighted 1, 0.9 … 0.5; `nil` for none.
    static func acceptLanguage(_ languages: [String]) -> String? {
        guard !languages.isEmpty else { return nil }
        return languages.prefix(6).enumerated()
            .map { $0 == 0 ? $1 : "\($1);q=0.\(10 - $0)" }
            .joined(separator: ", ")
    }

    private static func tag(ofLocale locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        guard name != "C", name != "POSIX", !name.isEmpty,
            name.utf8.allSatisfy(ByteSet.alphanumeric.union("_-").contains)
        else { return nil }
        return name.split(separator: "_").joined(separator: "-")
    }
}
