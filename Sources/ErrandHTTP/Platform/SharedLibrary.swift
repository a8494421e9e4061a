#if os(Linux)
    import Foundation

    /// A shared library that is opened at run time and never closed.
    @usableFromInline
    // @unchecked: the handle is written once and only passed to `dlsym`, which is thread-safe.
    package struct SharedLibrary: @unchecked Sendable {
        private let handle: UnsafeMutableRawPointer

        /// Opens the library with a file name; `nil` if it is not installed.
        package init?(_ name: String) {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
            self.handle = handle
        }

        /// Finds a library that is already loaded; `nil` if it is not.
        package init?(alreadyLoaded name: String) {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD) else { return nil }
            self.handle = handle
        }

        /// A function of the library; the caller supplies its C type.
        ///
        /// It is inlined, because the runtime would otherwise create the metadata of each type of function.
        @inlinable @inline(__always)
        package func function<Function>(
            _ name: String, as type: Function.Type = Function.self
        ) -> Function? {
            guard let address = address(of: name) else { return nil }
            return unsafeBitCast(address, to: type)
        }

        @usableFromInline
        package func address(of name: String) -> UnsafeMutableRawPointer? { dlsym(handle, name) }
    }

    extension SharedLibrary {
        /// The file name of OpenSSL 3.
        package static let openSSL3Name = "libssl.so.3"
        /// The file name of OpenSSL 1.1.
        package static let openSSL11Name = "libssl.so.1.1"
        /// The file names of all versions of OpenSSL that can be used, the newest first.
        private static let openSSLNames = [openSSL3Name, openSSL11Name]

        /// The versions of OpenSSL that the process has loaded, the newest first.
        package static var loadedOpenSSLVersions: [SharedLibrary] {
            openSSLNames.compactMap { SharedLibrary(alreadyLoaded: $0) }
        }

        /// The OpenSSL to use; `nil` if none is installed.
        ///
        /// A version that the process uses already, as libcurl does, comes first: a second one beside it would cost
        /// memory and have a configuration of its own.
        package static func openSSL() -> SharedLibrary? {
            loadedOpenSSLVersions.first
                ?? openSSLNames.lazy.compactMap { SharedLibrary($0) }.first
        }

        /// Prevents OpenSSL from releasing its memory in `exit`, if this process has not initialized it yet.
        ///
        /// Other threads may use OpenSSL until the process has ended, for example to close connections. With released
        /// memory they would crash the process. The system releases the memory in any case.
        package func skipOpenSSLCleanup() {
            typealias Initialize = @convention(c) (UInt64, UnsafeRawPointer?) -> Int32
            guard let initialize: Initialize = function("OPENSSL_init_crypto") else { return }
            // `OPENSSL_INIT_NO_ATEXIT`
            _ = initialize(0x80000, nil)
        }
    }
#endif
