import ErrandCore
import Testing

@testable import ErrandInspector

@Suite("Inspector: start")
struct StartCheckTests {
    private func error(_ change: (inout StartCheck) -> Void) -> RequestError? {
        var check = StartCheck(
            isReleaseBuild: false, isEnabledInReleaseBuilds: false, hasInspector: false,
            limits: ["maximumRequests": 1])
        change(&check)
        do throws(RequestError) {
            try check.check()
            return nil
        } catch {
            return error
        }
    }

    @Test func releaseBuildNeedsTheOption() {
        #expect(error { _ in } == nil)
        let refused = error { $0.isReleaseBuild = true }
        #expect(refused?.code == .invalidConfiguration)
        #expect(refused?.message.contains("isEnabledInReleaseBuilds") == true)
        #expect(error { ($0.isReleaseBuild, $0.isEnabledInReleaseBuilds) = (true, true) } == nil)
    }

    @Test func limitBelowOneIsRefused() {
        #expect(
            error { $0.limits["maximumMemory"] = 0 }?.message.contains("maximumMemory is 0") == true
        )
    }

    @Test func secondInspectorIsRefused() {
        #expect(error { $0.hasInspector = true }?.message.contains("has an inspector") == true)
    }
}
