import ErrandJSON

/// The grammar of JSON as the parser of ErrandJSON implements it, without its rules for UTF-8 and
/// surrogates.
enum JSONGrammar {
    static func accepts(_ text: some Sequence<UInt8>) -> Bool {
        (try? JSON(parsing: withoutSurrogates(text))) != nil
    }

    static func withoutSurrogates(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes = Array(String(decoding: Array(text), as: UTF8.self).utf8)
        for index in bytes.indices.dropFirst()
        where bytes[index - 1] == UInt8(ascii: "u") && bytes[index] | 0x20 == UInt8(ascii: "d") {
            bytes[index] = UInt8(ascii: "0")
        }
        return bytes
    }
}
