package import ErrandHTTP

/// An OpenSSL of this process: its functions, found by name at run time, so that no header and no
/// link is needed.
///
/// The functions are in groups, which have their names in C. A group is looked up when it is asked
/// for, and costs a search for each function: its user keeps it.
package struct OpenSSL: Sendable {
    /// A version whose functions are known.
    package enum Version: CaseIterable, Sendable {
        // The newest first.
        case v3, v1

        fileprivate var tls: String { self == .v3 ? "libssl.so.3" : "libssl.so.1.1" }
        fileprivate var crypto: String { self == .v3 ? "libcrypto.so.3" : "libcrypto.so.1.1" }
    }

    private let library: SharedLibrary

    package init(_ library: SharedLibrary) { self.library = library }

    /// A version that the process has loaded already; `nil` if it has not.
    package init?(loaded version: Version) {
        guard let library = SharedLibrary(alreadyLoaded: version.tls) else { return nil }
        self.library = library
    }

    /// The versions that the process has loaded, the newest first.
    package static var loaded: [OpenSSL] {
        Version.allCases.compactMap { OpenSSL(loaded: $0) }
    }

    /// The OpenSSL to use; `nil` if none is installed.
    ///
    /// A version that the process uses already, as libcurl does, comes first: a second one beside it
    /// would cost memory and have a configuration of its own.
    package static func installed() -> OpenSSL? {
        loaded.first
            ?? Version.allCases.lazy.compactMap { SharedLibrary($0.tls) }.first
            .map { OpenSSL($0) }
    }

    /// libcrypto, which has the digests, if the process has loaded it; `nil` if it has not.
    ///
    /// A process can use it without libssl.
    package static func loadedCrypto() -> OpenSSL? {
        Version.allCases.lazy.compactMap { SharedLibrary(alreadyLoaded: $0.crypto) }.first
            .map { OpenSSL($0) }
    }

    /// A group of functions.
    ///
    /// - Throws: The first function that this version lacks.
    package func functions<Group: FunctionGroup>(
        _ group: Group.Type = Group.self
    ) throws(MissingFunction) -> Group {
        try Group(FunctionFinder(library))
    }

    /// Prevents OpenSSL from releasing its memory in `exit`, if this process has not initialized it
    /// yet.
    ///
    /// Other threads may use OpenSSL until the process has ended, for example to close connections.
    /// With released memory they would crash the process. The system releases the memory in any case.
    package func skipCleanup() {
        guard let process = try? functions(Process.self) else { return }
        // `OPENSSL_INIT_NO_ATEXIT`
        _ = process.OPENSSL_init_crypto(0x80000, nil)
    }
}

/// A function that an OpenSSL does not have.
package struct MissingFunction: Error, Equatable {
    package let name: String

    package init(name: String) { self.name = name }
}

/// Functions of OpenSSL that are found together, or not at all.
package protocol FunctionGroup: AnyObject, Sendable {
    init(_ find: FunctionFinder) throws(MissingFunction)
}

/// Finds the functions of a library.
package struct FunctionFinder {
    private let library: SharedLibrary

    fileprivate init(_ library: SharedLibrary) { self.library = library }

    /// The function with a name, or with its name in OpenSSL 1; the caller supplies its C type.
    package func callAsFunction<Function>(
        _ name: String, former: String? = nil
    ) throws(MissingFunction) -> Function {
        let address = library.address(of: name) ?? former.flatMap { library.address(of: $0) }
        guard let address else { throw MissingFunction(name: name) }
        return unsafeBitCast(address, to: Function.self)
    }
}

extension OpenSSL {
    /// An object of OpenSSL, such as an `SSL`, an `X509` or a `BIO`.
    package typealias Object = UnsafeMutableRawPointer

    package typealias Make = @convention(c) () -> Object?
    package typealias Get = @convention(c) (UnsafeRawPointer?) -> Object?
    package typealias Free = @convention(c) (Object?) -> Void
    package typealias Test = @convention(c) (UnsafeRawPointer?) -> Int32
    package typealias Size = @convention(c) (UnsafeRawPointer?) -> Int
    package typealias Act = @convention(c) (Object?) -> Int32
    package typealias Set = @convention(c) (Object?, Object?) -> Void
    package typealias SetNumber = @convention(c) (Object?, Int32) -> Void
    package typealias SetText =
        @convention(c) (Object?, UnsafePointer<CChar>) -> Int32
    package typealias Control =
        @convention(c) (Object?, Int32, Int, UnsafeMutableRawPointer?) -> Int
}
