import ErrandHTTP
import ErrandSystem

/// The page as one document without external resources, and the policy that allows its style and script only.
enum InspectorPage {
    /// The HTML document.
    static let document: String = {
        PageSource.index
            .replacing(bytes: "<!-- style -->", with: "<style>\(PageSource.style)</style>")
            .replacing(bytes: "<!-- script -->", with: "<script>\(script)</script>")
    }()

    /// The scripts, in one scope.
    private static let script = "'use strict';\n(() => {\n\(PageSource.scripts.joined())})();\n"

    /// The value of `Content-Security-Policy`.
    ///
    /// Images are allowed from `data:` and `blob:`, for the bodies of responses. The page creates all elements without
    /// parsing markup, so that text of a server is never markup: Trusted Types forbid the contrary.
    static let contentSecurityPolicy: String = [
        "default-src 'none'",
        "script-src '\(hash(script))'",
        "style-src '\(hash(PageSource.style))'",
        "img-src data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")

    /// The source expression of an inline text.
    private static func hash(_ text: String) -> String {
        var hash = SHA256()
        hash.update(Data(text.utf8))
        return "sha256-\(Data(hash.finalize()).base64EncodedString())"
    }
}
