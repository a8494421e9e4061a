#if os(Linux)
    import Glibc

    /// The cleanup of OpenSSL in `exit`, which releases memory that other threads may still use.
    package enum OpenSSLCleanup {
        /// Ends this process with a status: 0 if `exit` leaves the memory of OpenSSL alone, 3 if OpenSSL releases it, 4
        /// if that cannot be observed.
        package static func exitReporting() -> Never {
            typealias Register = @convention(c) (@convention(c) () -> Void) -> Int32
            guard let library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_NOLOAD),
                let address = dlsym(library, "OPENSSL_atexit")
            else { exit(4) }
            let register = unsafeBitCast(address, to: Register.self)
            // OpenSSL calls its handlers in `exit`, before it releases its memory.
            guard register({ _exit(3) }) == 1 else { exit(4) }
            exit(0)
        }
    }
#endif
