/// When a jar writes: a pure machine.
///
/// One write at a time; changes during a write share the next one.
struct CookieWriting {
    private(set) var isWriting = false
    private var isDirty = false

    var isIdle: Bool { !isWriting && !isDirty }

    /// Something changed.
    ///
    /// Returns whether to begin writing.
    mutating func change() -> Bool {
        isDirty = true
        guard !isWriting else { return false }
        isWriting = true
        return true
    }

    /// The next write begins.
    ///
    /// Returns whether there is anything to write; else writing is over.
    mutating func next() -> Bool {
        guard isDirty else {
            isWriting = false
            return false
        }
        isDirty = false
        return true
    }
}
