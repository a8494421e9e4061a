import Foundation

/// The present run of the operating system: the same for every process until the machine starts
/// again.
enum BootSession {
    /// Its name; `nil` where the system has none to give, then only what is safe on the disk
    /// counts.
    static let current: String? = {
        #if os(Linux)
            guard let handle = FileHandle(forReadingAtPath: "/proc/sys/kernel/random/boot_id"),
                let data = try? handle.read(upToCount: 64)
            else { return nil }
            let text = String(decoding: data, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            return text.isEmpty ? nil : text
        #else
            return nil
        #endif
    }()
}
