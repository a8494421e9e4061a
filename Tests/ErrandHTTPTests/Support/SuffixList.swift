import ErrandHTTP
import Testing

/// The public suffix lists with which cookies are tested.
enum SuffixList: String, CaseIterable, Sendable {
    #if os(Linux)
        case libpsl
    #endif
    case builtIn

    /// The list; libpsl is a dependency of libcurl's packages.
    var suffixes: PublicSuffixRules {
        get throws {
            switch self {
            #if os(Linux)
                case .libpsl:
                    let library: PublicSuffixLibrary = try #require(
                        PublicSuffixLibrary("libpsl.so.5"))
                    return PublicSuffixRules(installed: library)
            #endif
            case .builtIn: return PublicSuffixRules(installed: nil)
            }
        }
    }
}
