/// What a shared transfer does, as those on board would have it: pure.
struct FlightCourse: Sendable, Equatable {
    /// What one of them wants.
    struct Wish: Sendable, Equatable {
        var isPaused: Bool
        var priority: RequestPriority
    }

    /// Held while everybody is; nobody who is suspended holds up another.
    let isPaused: Bool
    /// As urgent as the most urgent of them; `nil` when nobody is left to say.
    let priority: RequestPriority?

    init(of wishes: some Sequence<Wish>) {
        var isPaused = true
        var priority: RequestPriority?
        for wish in wishes {
            isPaused = isPaused && wish.isPaused
            priority = max(priority ?? wish.priority, wish.priority)
        }
        self.isPaused = isPaused && priority != nil
        self.priority = priority
    }
}
