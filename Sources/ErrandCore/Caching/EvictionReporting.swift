/// A store that counts the entries that it has removed to make room.
package protocol EvictionReporting: ResponseStore {
    /// The number of evictions since the last call.
    func takeEvictions() -> Int
}
