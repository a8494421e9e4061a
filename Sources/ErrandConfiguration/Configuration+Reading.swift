#if Configuration
    public import Configuration
    public import ErrandCore

    extension ErrandCore.Configuration {
        /// Creates a configuration from the settings that operators change.
        ///
        ///     let reader = ConfigReader(provider: EnvironmentVariablesProvider())
        ///     let configuration = try Configuration(reading: reader.scoped(to: "errand"))
        ///
        /// It requires the package trait `Configuration`. The values are read once. `readableKeys` lists the keys, and
        /// the article OperatorSettings their values. A key that is not among them has no effect: a `ConfigReader` cannot
        /// list the keys that its providers have, so a misspelled one cannot be reported here.
        ///
        /// - Parameters:
        ///   - reader: The reader; scope it to the prefix of the keys.
        ///   - defaults: The settings whose keys are absent, and all those that have no key.
        /// - Throws: ``RequestError/Code/invalidConfiguration`` for a value of a wrong form or outside its range; the error
        ///   names the key and the allowed values, and shows no secret one.
        public init(
            reading reader: ConfigReader,
            defaults: ErrandCore.Configuration = ErrandCore.Configuration()
        ) throws(RequestError) {
            self = defaults
            let settings = SettingReader(reader: reader)
            for setting in Setting.all { try setting.apply(settings, &self) }
            if let environment, environments[environment] == nil {
                _ = try inEnvironment()
            }
        }

        /// The keys that `init(reading:defaults:)` reads, relative to the prefix of the reader, in the order of the table.
        public static var readableKeys: [String] { Setting.all.flatMap(\.keys) }
    }

    extension MemoryResponseStore {
        /// Creates a store whose limits operators change.
        ///
        /// The keys are `cache.maximumBytes` (default 33554432, 32 MiB) and `cache.maximumEntries` (default: no limit).
        ///
        /// - Parameter reader: The reader; scope it to the prefix of the keys.
        /// - Throws: ``RequestError/Code/invalidConfiguration`` for a value of a wrong form or outside its range.
        public convenience init(reading reader: ConfigReader) throws(RequestError) {
            let settings = SettingReader(reader: reader)
            let bytes = try settings.int("cache.maximumBytes", in: 0...Int.max)
            let entries = try settings.int("cache.maximumEntries", in: 1...Int.max)
            self.init(maximumBytes: bytes ?? 32 << 20, maximumEntries: entries)
        }
    }
#endif
