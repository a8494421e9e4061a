#if os(Linux)
    import Foundation

    /// A shared library that is opened at run time and never closed.
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
        package func function<Function>(
            _ name: String, as type: Function.Type = Function.self
        ) -> Function? {
            dlsym(handle, name).map { unsafeBitCast($0, to: type) }
        }
    }
#endif
