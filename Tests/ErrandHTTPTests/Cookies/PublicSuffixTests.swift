import ErrandTesting
import Testing

@testable import ErrandHTTP

@Suite struct PublicSuffixTests {
    @Test(
        arguments: SuffixList.allCases,
        [
            "com", "localhost", "127.0.0.1", "[::1]", "co.uk", "com.au", "github.io", "x.ck",
            "any.compute.amazonaws.com", "city1.kobe.jp", "x.sch.uk", "com.", "co.uk.",
            "github.io.", "xn--p1ai",
        ])
    func suffixes(_ list: SuffixList, _ domain: String) throws {
        #expect(try list.suffixes.isPublicSuffix(domain))
    }

    @Test(
        arguments: SuffixList.allCases,
        [
            "example.com", "example.co.uk", "me.github.io", "www.ck", "city.kobe.jp",
            "uk.example", "a.b.compute.amazonaws.com", "example.com.", "www.ck.",
        ])
    func registrableDomains(_ list: SuffixList, _ domain: String) throws {
        #expect(try !list.suffixes.isPublicSuffix(domain))
    }

    #if os(Linux)
        /// A suffix that the built-in rules lack.
        @Test func installedListIsComplete() {
            #expect(PublicSuffixRules.system.source == .libpsl)
            #expect(PublicSuffixRules.system.isPublicSuffix("xn--55qx5d.cn"))
            #expect(!PublicSuffixRules.builtIn.isPublicSuffix("xn--55qx5d.cn"))
        }

        @Test func missingLibraryLeavesTheBuiltInRules() {
            let suffixes = PublicSuffixRules(
                installed: PublicSuffixLibrary("libpsl-that-is-not-installed.so"))
            #expect(suffixes.source == .builtIn)
            #expect(suffixes.isPublicSuffix("co.uk"))
        }

        /// A library that exists and has none of the functions.
        @Test func otherLibraryLeavesTheBuiltInRules() {
            #expect(
                PublicSuffixRules(installed: PublicSuffixLibrary("libm.so.6")).source == .builtIn)
        }
    #endif

    @Test func incompleteListIsAnnouncedOnce() {
        let jar = CookieJar(publicSuffixes: PublicSuffixRules(installed: nil))
        #expect(jar.takeIncompleteSuffixesNotice())
        #expect(!jar.takeIncompleteSuffixesNotice())
        #expect(
            !CookieJar(publicSuffixes: PublicSuffixRules.builtIn).takeIncompleteSuffixesNotice())
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
        #expect(rules.isPublicSuffix("co.test."))
        #expect(rules.isPublicSuffix("a.wild.test"))
        #expect(!rules.isPublicSuffix("free.wild.test"))
        #expect(!rules.isPublicSuffix("wild.test"))
        #expect(rules.isPublicSuffix("xn--55qx5d.cn"))
        #expect(!rules.isPublicSuffix("co.uk"))
    }
}
