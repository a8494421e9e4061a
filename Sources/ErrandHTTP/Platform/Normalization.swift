#if Foundation || URLSession || canImport(Darwin)
    // Foundation: normalization of Unicode text, for host names and credentials
    import Foundation
#endif

/// Normalization forms of Unicode; pure.
///
/// Their tables are part of Foundation. Without the package traits `Foundation` and `URLSession`, only ASCII text has its
/// compatibility form.
package enum Normalization {
    /// The text in form C.
    ///
    /// Without the traits, the text as it is: keyboards and most programs produce form C.
    package static func canonical(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        #if Foundation || URLSession || canImport(Darwin)
            return text.precomposedStringWithCanonicalMapping
        #else
            return text
        #endif
    }

    /// The text in form KC; `nil` if the package was built without the tables for it.
    package static func compatibility(_ text: String) -> String? {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        #if Foundation || URLSession || canImport(Darwin)
            return text.precomposedStringWithCompatibilityMapping
        #else
            return nil
        #endif
    }
}
