import ErrandSystem

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
