#if !Configuration
    public import ErrandCore

    extension ErrandCore.Configuration {
        /// Creates a configuration from the settings that operators change; requires the package trait `Configuration`.
        @available(
            *, unavailable,
            message:
                "Enable the package trait Configuration in Package.swift: .package(url: \"…/errand.git\", …, traits: [.defaults, \"Configuration\"])"
        )
        public init<Reader>(
            reading reader: Reader,
            defaults: ErrandCore.Configuration = ErrandCore.Configuration()
        ) throws(RequestError) {
            self = defaults
        }
    }
#endif
