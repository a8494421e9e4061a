import ErrandHTTP
import Foundation
import Testing

@testable import ErrandCore

/// The digests that a download is checked against.
@Suite struct DigestExpectationsTests {
    @Test func expectedDigestsOfTheAuthorComeFirst() {
        var plan = DownloadPlan(to: URL(fileURLWithPath: "/nowhere/x"))
        let (mine, theirs) = (
            DownloadedFile.Digest.sha1("aa"), DownloadedFile.Digest.md5("bb")
        )
        #expect(DigestExpectations(plan, server: [theirs, mine]).expected == [theirs, mine])
        plan.computedDigests = [.sha512]
        #expect(DigestExpectations(plan).algorithms == [.sha512])
        #expect(DigestExpectations(plan, server: [theirs]).algorithms == [.sha512, .md5])
        plan.verifiesServerDigests = false
        #expect(DigestExpectations(plan, server: [theirs]).expected == [])
        plan.verifiesServerDigests = true
        plan.expectedDigests = [mine]
        plan.sha256 = "CC"
        let both = DigestExpectations(plan, server: [theirs])
        #expect(both.expected == [.sha256("cc"), mine])
        #expect(both.mismatch(in: [.sha256: .sha256("cc"), .sha1: mine]) == nil)
        let error = both.mismatch(in: [.sha256: .sha256("cc"), .sha1: .sha1("dd")])
        #expect(error?.code == .digestMismatch && error?.stage == .validate)
        #expect(error?.message.contains("has SHA-1 dd, expected aa") == true)
        let mismatch = error?.underlying as? DownloadedFile.DigestMismatch
        #expect(mismatch?.expected == mine && mismatch?.found == .sha1("dd"))
    }
}
