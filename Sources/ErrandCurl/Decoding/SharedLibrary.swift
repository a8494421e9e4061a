#if os(Linux)
    import Glibc

    /// A library of the system, opened at run time and never closed.
    // @unchecked: the handle is written once and only ever passed to `dlsym`, which takes it from any thread.
    struct SharedLibrary: @unchecked Sendable {
        private let handle: UnsafeMutableRawPointer

        /// Opens the library of that file name; `nil` when the system has none.
        init?(_ name: String) {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
            self.handle = handle
        }

        /// A library that is in the process already; `nil` when it is not.
        init?(alreadyLoaded name: String) {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD) else { return nil }
            self.handle = handle
        }

        /// A function of the library, whose C type the caller knows.
        func function<Function>(
            _ name: String, as type: Function.Type = Function.self
        ) -> Function? {
            dlsym(handle, name).map { unsafeBitCast($0, to: type) }
        }
    }
#endif
