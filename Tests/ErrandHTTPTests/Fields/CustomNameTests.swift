import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// Names of fields from text, which keep what is not a token.
struct CustomNameTests {
    @Test(arguments: ["X-Trace", "Accept", "x", "!#$%&'*+-.^_`|~", "%", "%41", "a%20b"])
    func tokensAreNames(text: String) {
        let name = HTTPField.Name.custom(text)
        #expect(name == HTTPField.Name(text) && name.rawName == text && name.fault == nil)
    }

    @Test(arguments: [
        "", " ", "X A", "X-A\r\nX-B", "Ü", "X:", ":path", "a\0b", "\u{301}", "a%20 b",
    ])
    func otherTextIsKeptAndRefused(text: String) {
        let name = HTTPField.Name.custom(text)
        #expect(name.fault?.hasPrefix(text.debugDescription) == true)
        // Unchecked, the name would still be one harmless token.
        #expect(HTTPField.Name(name.rawName) == name)
        let fields: HTTPFields = [.accept: "a", name: "hush", .custom("X-Trace"): "b"]
        #expect(fields.nameFault == name.fault && fields.nameFault?.contains("hush") == false)
    }

    @Test func differentTextHasDifferentNames() {
        #expect(HTTPField.Name.custom("a b") != .custom("a c"))
        #expect(HTTPField.Name.custom("a b") == .custom("a b"))
        #expect(HTTPFields([HTTPField(name: .accept, value: "a")]).nameFault == nil)
    }
}
