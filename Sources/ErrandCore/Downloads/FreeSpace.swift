package import ErrandHTTP
import ErrandSystem

/// The free space of a file system, compared with what a download needs.
package enum FreeSpace {
    /// An error if bytes of a known number do not fit; `nil` if they do, or if the file system reports nothing.
    package static func shortage(
        needed: Int64, available: Int64?, at path: String
    ) -> RequestError? {
        guard let available, needed > available else { return nil }
        return RequestError(
            .insufficientSpace, stage: .transport,
            "The download needs \(needed) more bytes, but the file system of \(path) has \(available) available. "
                + "Free some space, or choose another destination; bytes that were received are kept."
        )
    }

    /// The number of bytes that this user can write; `nil` if it is unknown.
    static func available(_ descriptor: Int32) -> Int64? {
        var status = statvfs()
        return fstatvfs(descriptor, &status) == 0 ? bytes(status) : nil
    }

    /// The number of bytes that this user can write to the file system of a path, if it is another one.
    static func available(at path: String, otherThan descriptor: Int32) -> Int64? {
        var (own, other, status) = (stat(), stat(), statvfs())
        guard fstat(descriptor, &own) == 0, stat(path, &other) == 0, own.st_dev != other.st_dev,
            statvfs(path, &status) == 0
        else { return nil }
        return bytes(status)
    }

    private static func bytes(_ status: statvfs) -> Int64? {
        // File systems without blocks, such as those of some user-space drivers, do not report their space.
        guard status.f_blocks > 0 else { return nil }
        let (bytes, overflows) = UInt64(status.f_bavail)
            .multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflows ? .max : Int64(clamping: bytes)
    }
}
