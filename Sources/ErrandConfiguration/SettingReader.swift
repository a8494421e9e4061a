#if Configuration
    import Configuration
    import ErrandCore

    /// Reads values and refuses those of a wrong form, which a `ConfigReader` alone treats as absent.
    struct SettingReader {
        let reader: ConfigReader

        func int(_ key: String, in range: ClosedRange<Int>) throws(RequestError) -> Int? {
            let form =
                range.upperBound == .max
                ? "an integer of at least \(range.lowerBound)"
                : "an integer from \(range.lowerBound) to \(range.upperBound)"
            guard let value = try self.value(key, form, { reader.int(forKey: $0) }) else {
                return nil
            }
            guard range.contains(value) else { throw Self.invalid(key, "\(value)", form) }
            return value
        }

        func double(_ key: String, _ form: String) throws(RequestError) -> Double? {
            // Providers do not convert an integer, which a file may contain.
            let number = try self.value(key, form) {
                reader.double(forKey: $0) ?? reader.int(forKey: $0).map(Double.init)
            }
            guard let value = number else { return nil }
            guard value.isFinite, value >= 0 else { throw Self.invalid(key, "\(value)", form) }
            return value
        }

        /// A number of seconds, at most a thousand years.
        func seconds(_ key: String) throws(RequestError) -> Duration? {
            let form = "a number of seconds, such as 2.5"
            guard let value = try double(key, form) else { return nil }
            guard value <= 31_557_600_000 else { throw Self.invalid(key, "\(value)", form) }
            return .seconds(value)
        }

        func bool(_ key: String) throws(RequestError) -> Bool? {
            try self.value(key, "true or false") { reader.bool(forKey: $0) }
        }

        func string(_ key: String, isSecret: Bool = false) throws(RequestError) -> String? {
            try self.value(key, "text", isSecret: isSecret) {
                reader.string(forKey: $0, isSecret: isSecret)
            }
        }

        func strings(_ key: String) throws(RequestError) -> [String]? {
            try self.value(key, "a list of texts") { reader.stringArray(forKey: $0) }
        }

        func ints(_ key: String, in range: ClosedRange<Int>) throws(RequestError) -> [Int]? {
            let form = "a list of integers from \(range.lowerBound) to \(range.upperBound)"
            guard let values = try self.value(key, form, { reader.intArray(forKey: $0) }) else {
                return nil
            }
            for value in values where !range.contains(value) {
                throw Self.invalid(key, "\(value)", form)
            }
            return values
        }

        /// One of some names.
        func choice<Value>(
            _ key: String, _ values: [(name: String, value: Value)]
        ) throws(RequestError) -> Value? {
            guard let text = try string(key) else { return nil }
            guard let found = values.first(where: { $0.name == text }) else {
                throw Self.invalid(
                    key, text, "one of \(values.map(\.name).joined(separator: ", "))")
            }
            return found.value
        }

        private func value<Value>(
            _ key: String, _ form: String, isSecret: Bool = false,
            _ read: (ConfigKey) -> Value?
        ) throws(RequestError) -> Value? {
            if let value = read(ConfigKey(key)) { return value }
            guard let text = anyValue(ConfigKey(key), isSecret: isSecret) else { return nil }
            throw Self.invalid(key, isSecret ? nil : text, form)
        }

        /// The text of a value in whichever form it has; `nil` if there is none.
        private func anyValue(_ key: ConfigKey, isSecret: Bool) -> String? {
            if let text = reader.string(forKey: key, isSecret: isSecret) { return text }
            if let number = reader.int(forKey: key, isSecret: isSecret) { return "\(number)" }
            if let number = reader.double(forKey: key, isSecret: isSecret) { return "\(number)" }
            if let bool = reader.bool(forKey: key, isSecret: isSecret) { return "\(bool)" }
            if let texts = reader.stringArray(forKey: key, isSecret: isSecret) { return "\(texts)" }
            if let numbers = reader.intArray(forKey: key, isSecret: isSecret) {
                return "\(numbers)"
            }
            if let numbers = reader.doubleArray(forKey: key, isSecret: isSecret) {
                return "\(numbers)"
            }
            return reader.boolArray(forKey: key, isSecret: isSecret).map { "\($0)" }
        }

        /// The error for a value; a secret one is not shown.
        static func invalid(_ key: String, _ value: String?, _ form: String) -> RequestError {
            let subject = value.map { "is \($0)" } ?? "has an unusable value"
            return RequestError(
                .invalidConfiguration, stage: .build,
                "The configuration key \(key) \(subject). Set \(form).")
        }
    }
#endif
