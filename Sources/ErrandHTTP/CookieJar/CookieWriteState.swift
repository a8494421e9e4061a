/// The state that decides when a jar saves its cookies; a pure value.
///
/// One save runs at a time. Changes during a save are included in the next one.
package struct CookieWriteState {
    private(set) var isWriting = false
    private var isDirty = false

    package var isIdle: Bool { !isWriting && !isDirty }

    /// Records a change.
    ///
    /// - Returns: Whether the caller must start saving.
    package mutating func change() -> Bool {
        isDirty = true
        guard !isWriting else { return false }
        isWriting = true
        return true
    }

    /// Starts the next save.
    ///
    /// - Returns: Whether there are unsaved changes; false ends the save.
    package mutating func next() -> Bool {
        guard isDirty else {
            isWriting = false
            return false
        }
        isDirty = false
        return true
    }
}
