#if os(Linux)
    /// libpsl, a library that contains the rules of publicsuffix.org.
    ///
    /// Not on other platforms, where it is not part of the system.
    // @unchecked: libpsl's built-in rules are constant, and its functions are thread-safe.
    package struct PublicSuffixLibrary: @unchecked Sendable {
        /// The installed library; `nil` if there is none.
        static let installed = PublicSuffixLibrary("libpsl.so.5")

        private typealias BuiltInRules = @convention(c) () -> UnsafeRawPointer?
        private typealias IsPublicSuffix =
            @convention(c) (UnsafeRawPointer, UnsafePointer<CChar>, CInt) -> CInt

        /// `PSL_TYPE_ANY`: the suffixes of registries and those of hosting services.
        private static let anyType: CInt = 3

        private let rules: UnsafeRawPointer
        private let isSuffix: IsPublicSuffix

        /// Loads the library; `nil` if it is not installed or was built without rules.
        package init?(_ fileName: String) {
            guard let library = SharedLibrary(fileName),
                let builtInRules: BuiltInRules = library.function("psl_builtin"),
                let isSuffix: IsPublicSuffix = library.function("psl_is_public_suffix2"),
                let rules = builtInRules()
            else { return nil }
            self.rules = rules
            self.isSuffix = isSuffix
        }

        func isPublicSuffix(_ domain: String) -> Bool {
            domain.withCString { isSuffix(rules, $0, Self.anyType) != 0 }
        }
    }
#else
    package struct PublicSuffixLibrary: Sendable {
        static let installed: PublicSuffixLibrary? = nil

        private init() {}

        func isPublicSuffix(_ domain: String) -> Bool { true }
    }
#endif
