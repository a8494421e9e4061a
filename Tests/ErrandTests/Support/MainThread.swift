import Dispatch

/// Whether code runs on the main actor.
///
/// On Linux the main actor has no thread of its own, and `Thread.isMainThread` is false on it.
enum MainThread {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }
}
