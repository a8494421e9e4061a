import Testing

@testable import ErrandCore

/// What a shared transfer does, by what those on board want.
@Suite struct FlightCourseTests {
    private func course(_ wishes: (Bool, RequestPriority)...) -> FlightCourse {
        FlightCourse(of: wishes.map { FlightCourse.Wish(isPaused: $0.0, priority: $0.1) })
    }

    @Test func onlyEverybodyTogetherHoldsIt() {
        #expect(!course().isPaused)
        #expect(course((true, .normal)).isPaused)
        #expect(!course((true, .normal), (false, .normal)).isPaused)
        #expect(!course((false, .normal), (true, .normal)).isPaused)
        #expect(course((true, .normal), (true, .low)).isPaused)
    }

    @Test func theMostUrgentDecides() {
        #expect(course().priority == nil)
        #expect(course((false, .low)).priority == .low)
        #expect(course((false, .low), (false, .high), (false, .normal)).priority == .high)
        #expect(course((true, .high), (false, .low)).priority == .high)
    }
}
