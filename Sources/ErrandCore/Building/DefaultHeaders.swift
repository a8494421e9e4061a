import ErrandHTTP
import ErrandSystem
import HTTPTypes

/// The header fields that every request sends unless it overrides them.
package enum DefaultHeaders {
    /// `Accept`, `User-Agent` and, if the environment names a language, `Accept-Language`.
    package static let fields: HTTPFields = {
        var fields: HTTPFields = [.accept: "*/*", .userAgent: userAgent]
        if let languages = acceptLanguage(preferredLanguages) {
            fields[.acceptLanguage] = languages
        }
        return fields
    }()

    /// The name and version of the framework; nothing about the system, to avoid fingerprinting.
    package static let userAgent = "Errand/\(version)"

    /// The framework's version.
    package static let version = "0.1.0"

    private static var preferredLanguages: [String] {
        #if os(Linux)
            var environment: [String: String] = [:]
            // `ProcessInfo.environment` would copy all variables.
            for name in ["LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"] {
                environment[name] = getenv(name).map { String(cString: $0) }
            }
            return languages(ofEnvironment: environment)
        #else
            return Locale.preferredLanguages
        #endif
    }

    /// The languages of the POSIX locale variables in order of preference: `de_DE.UTF-8` gives `de-DE`, `de`.
    ///
    /// Empty for the locale `C`, which most servers use.
    package static func languages(ofEnvironment environment: [String: String]) -> [String] {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let locale = value("LC_ALL") ?? value("LC_MESSAGES") ?? value("LANG"),
            let first = tag(ofLocale: locale)
        else { return [] }
        let listed = (value("LANGUAGE") ?? "").pieces(at: ":").compactMap {
            tag(ofLocale: String($0))
        }
        var result: [String] = []
        for tag in listed + [first] {
            for language in [tag, String(tag.prefix(upToByte: "-"))]
            where !result.contains(language) {
                result.append(language)
            }
        }
        return result
    }

    /// The value of `Accept-Language`: up to six languages with weights 1, 0.9 … 0.5; `nil` for none.
    package static func acceptLanguage(_ languages: [String]) -> String? {
        guard !languages.isEmpty else { return nil }
        return languages.prefix(6).enumerated()
            .map { $0 == 0 ? $1 : "\($1);q=0.\(10 - $0)" }
            .joined(separator: ", ")
    }

    private static func tag(ofLocale locale: String) -> String? {
        let name = locale.prefix(upToByte: ".").prefix(upToByte: "@")
        guard name != "C", name != "POSIX", !name.isEmpty,
            name.utf8.allSatisfy(ByteSet.alphanumeric.union("_-").contains)
        else { return nil }
        return name.pieces(at: "_").joined(separator: "-")
    }
}
