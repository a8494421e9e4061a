#if Redis
    import ErrandCore

    /// The names of the keys of a store on the server.
    ///
    /// | key | type | value |
    /// |---|---|---|
    /// | `e:<id>` | string | an entry (``EntryRecord``), with a time to live |
    /// | `b:<write>:<n>` | string | a part of a large body (``BodyPart``), with a time to live |
    /// | `x` | sorted set | the ids of all entries, by the time of their removal |
    /// | `t:<tag>`, `u:<digest>` | sorted set | the ids of a tag, and of an identity |
    /// | `m` | hash | for each id: size, tag, digest of the identity, write, number of parts |
    /// | `c` | string | the sum of the sizes |
    /// | `k` | string | the random bytes for the digests in the texts of keys |
    /// | `l:<id>` | string | the token of a fetch lease, with a time to live |
    ///
    /// All begin with the prefix and the version of this layout, so that two versions can share a
    /// server.
    struct StoreKeys: Sendable {
        /// The version of the layout.
        static let version = 1

        let prefix: String

        init(prefix: String) { self.prefix = "\(prefix)v\(Self.version):" }

        func entry(_ id: EntryID) -> String { prefix + "e:" + id.text }
        func lease(_ id: EntryID) -> String { prefix + "l:" + id.text }
        func part(_ number: Int, of write: String) -> String { "\(prefix)b:\(write):\(number)" }
        var index: String { prefix + "x" }
        func tag(_ tag: Int) -> String { "\(prefix)t:\(tag)" }
        func identity(_ identity: String?) -> String { prefix + "u:" + Self.digest(identity) }
        var bytes: String { prefix + "c" }
        var digestKey: String { prefix + "k" }

        /// The digest of an identity: names of keys may appear in the logs of a server.
        static func digest(_ identity: String?) -> String {
            identity.map { EntryID(CacheKey(canonical: $0)).text } ?? "-"
        }

        /// The pattern of `SCAN` for keys of the store; characters of the prefix that have a meaning
        /// are escaped.
        func pattern(for rest: String) -> String {
            var pattern: [UInt8] = []
            for byte in prefix.utf8 {
                if ByteSet("\\*?[]^-").contains(byte) { pattern.append(UInt8(ascii: "\\")) }
                pattern.append(byte)
            }
            return String(decoding: pattern, as: UTF8.self) + rest
        }

        /// The id in the key of an entry; `nil` if the key is not that of an entry.
        func id(ofEntry key: String) -> EntryID? {
            guard key.utf8.starts(with: (prefix + "e:").utf8) else { return nil }
            return EntryID(text: String(key.utf8.dropFirst(prefix.utf8.count + 2)) ?? "")
        }
    }

    /// The id of an entry: 128 bits of its key's text, in hexadecimal digits.
    ///
    /// The entry contains the text, which distinguishes keys with the same id.
    struct EntryID: Sendable, Hashable {
        let text: String

        init(_ key: CacheKey) {
            var sum = Checksum()
            sum.combine(key.canonical)
            text = Self.hex(key.hash64) + Self.hex(UInt64(bitPattern: sum.value))
        }

        /// The id with this text; `nil` if it is not one.
        init?(text: String) {
            guard text.utf8.count == 32, text.utf8.allSatisfy(Self.isDigit) else { return nil }
            self.text = text
        }

        private static func isDigit(_ byte: UInt8) -> Bool {
            (48...57).contains(byte) || (97...102).contains(byte)
        }

        /// The 16 hexadecimal digits of a number.
        static func hex(_ number: UInt64) -> String {
            String(unsafeUninitializedCapacity: 16) { digits in
                for index in 0..<16 {
                    let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - index * 4) & 15)
                    digits[index] = digit < 10 ? 48 + digit : 87 + digit
                }
                return 16
            }
        }
    }
#endif
