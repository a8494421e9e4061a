#if canImport(Darwin)
    import ErrandSystem

    /// System calls of Apple platforms that the safety of downloads needs.
    enum DarwinSystem {
        /// The identifier of the boot session; `nil` if the process may not read it.
        static func bootSession() -> String? {
            let name = "kern.bootsessionuuid"
            var size = 0
            guard sysctlbyname(name, nil, &size, nil, 0) == 0, size > 1 else { return nil }
            var bytes = [UInt8](repeating: 0, count: size)
            guard sysctlbyname(name, &bytes, &size, nil, 0) == 0 else { return nil }
            let text = String(decoding: bytes.prefix(size).prefix { $0 != 0 }, as: UTF8.self)
            return text.isEmpty ? nil : text
        }

        /// Writes a file, and the cache of the drive, to the disk; `nil` if the file system does not support that.
        ///
        /// On these platforms `fsync` ends when the drive has the bytes in its cache, which a power failure erases.
        static func flush(_ descriptor: Int32) -> Bool? {
            while fcntl(descriptor, F_FULLFSYNC) != 0 {
                switch errno {
                case EINTR: continue
                case ENOTSUP, EOPNOTSUPP, EINVAL, ENOTTY: return nil
                default: return false
                }
            }
            return true
        }
    }
#endif
