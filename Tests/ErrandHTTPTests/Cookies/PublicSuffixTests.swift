import Testing

@testable import ErrandHTTP

@Suite struct PublicSuffixTests {
    @Test(arguments: [
        "com", "localhost", "127.0.0.1", "[::1]", "co.uk", "com.au", "github.io", "x.ck",
        "any.compute.amazonaws.com", "city1.kobe.jp", "x.sch.uk",
    ])
    func builtInSuffixes(_ domain: String) {
        #expect(PublicSuffixRules.builtIn.isPublicSuffix(domain))
    }

    @Test(arguments: [
        "example.com", "example.co.uk", "me.github.io", "www.ck", "city.kobe.jp", "uk.example",
        "a.b.compute.amazonaws.com",
    ])
    func registrableDomains(_ domain: String) {
        #expect(!PublicSuffixRules.builtIn.isPublicSuffix(domain))
    }

    @Test func rulesAreParsedFromTheFormatOfTheList() {
        let rules = PublicSuffixRules(
            parsing: """
                // comment
                com

                co.test  trailing words are no part of the rule
                *.wild.test
                !free.wild.test
                公司.cn
                """)
        #expect(rules.isPublicSuffix("co.test"))
        #expect(rules.isPublicSuffix("a.wild.test"))
        #expect(!rules.isPublicSuffix("free.wild.test"))
        #expect(!rules.isPublicSuffix("wild.test"))
        #expect(rules.isPublicSuffix("xn--55qx5d.cn"))
        #expect(!rules.isPublicSuffix("co.uk"))
    }
}
