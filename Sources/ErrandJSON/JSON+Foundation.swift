#if Foundation || URLSession || canImport(Darwin)
    import ErrandSystem
    // Foundation: NSNumber, NSDecimalNumber and NSNull of JSONSerialization
    import Foundation

    extension JSON {
        /// Converts a value of the types that `JSONSerialization` uses.
        ///
        /// These are dictionaries with string keys, arrays, strings, numbers, and `NSNull`; nil becomes
        /// `null`. The members of a dictionary, which has no order, are sorted by key.
        ///
        /// - Throws: `JSONError` of kind `notRepresentable` for other types and for numbers that are
        ///   not finite; of kind `tooDeep` above 512 levels.
        public init(foundation object: Any?) throws(JSONError) {
            self = try JSON.written { sink throws(JSONError) in
                try FoundationBridge.write(object, to: sink, depth: 0)
            }
        }

        /// The value in the types of `JSONSerialization`.
        ///
        /// These are `[String: Any]`, `[Any]`, `String`, `NSNumber` and `NSNull`:
        /// - For a repeated key the last value is used, as in `JSONSerialization`.
        /// - Numbers in integer notation become integers of up to 64 bits.
        /// - Other numbers become `Double`. With 17 digits or more they become `NSDecimalNumber`, which
        ///   keeps up to 38 digits.
        /// - `NSNull` replaces absent values, numbers beyond the range of both types, and values nested
        ///   deeper than 512 levels, which those types cannot deallocate.
        public var foundationObject: Any { FoundationBridge.object(self, depth: 0) }
    }

    /// Conversion between `JSON` and the types of `JSONSerialization`.
    private enum FoundationBridge {
        static func write(_ object: Any?, to sink: ByteSink, depth: Int) throws(JSONError) {
            guard depth <= 512 else { throw JSONError(.tooDeep) }
            switch object {
            case nil, is NSNull: sink.write("null")
            case let json as JSON: JSONPrinter.print(json, to: sink)
            case let string as String: sink.write(string: string)
            case let bool as Bool where !(object is NSNumber): sink.write(bool ? "true" : "false")
            case let number as NSNumber: try write(number, to: sink)
            case let double as Double: try write(double, to: sink)
            case let float as Float: try write(float, to: sink)
            case let integer as any FixedWidthInteger: write(integer, to: sink)
            case let decimal as Decimal: try write(NSDecimalNumber(decimal: decimal), to: sink)
            case let dictionary as [String: Any?]: try write(dictionary, to: sink, depth: depth)
            case let array as [Any?]: try write(array, to: sink, depth: depth)
            default: throw JSONError(.notRepresentable)
            }
        }

        private static func write(
            _ dictionary: [String: Any?], to sink: ByteSink, depth: Int
        ) throws(JSONError) {
            sink.write(UInt8(ascii: "{"))
            var isFirst = true
            for key in dictionary.keys.sorted() {
                if !isFirst { sink.write(UInt8(ascii: ",")) }
                isFirst = false
                sink.write(string: key)
                sink.write(UInt8(ascii: ":"))
                try write(dictionary[key] ?? nil, to: sink, depth: depth + 1)
            }
            sink.write(UInt8(ascii: "}"))
        }

        private static func write(_ array: [Any?], to sink: ByteSink, depth: Int) throws(JSONError)
        {
            sink.write(UInt8(ascii: "["))
            var isFirst = true
            for item in array {
                if !isFirst { sink.write(UInt8(ascii: ",")) }
                isFirst = false
                try write(item, to: sink, depth: depth + 1)
            }
            sink.write(UInt8(ascii: "]"))
        }

        private static func write(_ number: NSNumber, to sink: ByteSink) throws(JSONError) {
            switch UnicodeScalar(UInt8(bitPattern: number.objCType.pointee)) {
            case _ where number is NSDecimalNumber:
                guard let decimal = number as? NSDecimalNumber, !decimal.decimalValue.isNaN else {
                    throw JSONError(.notRepresentable)
                }
                var text = decimal.description(withLocale: nil)
                text.withUTF8 { sink.write($0) }
            // A `Bool` has the same type code as an `Int8` of 0 or 1; such an `Int8` is written as a
            // Bool.
            case "c" where number.int64Value == 0 || number.int64Value == 1,
                "B":
                sink.write(number.boolValue ? "true" : "false")
            case "f": try write(number.floatValue, to: sink)
            case "d": try write(number.doubleValue, to: sink)
            case "Q": sink.write(integer: number.uint64Value)
            default: sink.write(integer: number.int64Value)
            }
        }

        private static func write<T: BinaryFloatingPoint & LosslessStringConvertible>(
            _ value: T, to sink: ByteSink
        ) throws(JSONError) {
            guard sink.write(floating: value) else { throw JSONError(.notRepresentable) }
        }

        private static func write(_ integer: some FixedWidthInteger, to sink: ByteSink) {
            sink.write(integer: integer)
        }

        static func object(_ json: JSON, depth: Int) -> Any {
            guard depth <= 512 else { return NSNull() }
            switch json.kind {
            case .absent, .null: return NSNull()
            case .bool: return NSNumber(value: json.bool ?? false)
            case .number: return number(json)
            case .string: return json.string ?? ""
            case .array: return json.map { object($0, depth: depth + 1) }
            case .object:
                var dictionary: [String: Any] = [:]
                for (key, value) in json.object ?? [] {
                    dictionary[key] = object(value, depth: depth + 1)
                }
                return dictionary
            }
        }

        /// Converts a number as `JSONSerialization` does.
        ///
        /// A number in integer notation becomes an integer; a number with more digits than `Double`
        /// holds becomes a decimal.
        private static func number(_ json: JSON) -> Any {
            let text = json.tape.text(at: json.index)
            if json.tape.kind(at: json.index) == .integer {
                if let integer = json.int64 { return NSNumber(value: integer) }
                if let integer = json.uint64 { return NSNumber(value: integer) }
            }
            // Like Foundation, this counts the sign and the decimal point as digits.
            let mantissa = text.prefix { $0 | 0x20 != UInt8(ascii: "e") }
            let double = json.double
            if mantissa.count <= 17, let double { return NSNumber(value: double) }
            let decimal = NSDecimalNumber(string: json.number)
            if decimal != .notANumber { return decimal }
            return double.map { NSNumber(value: $0) } ?? NSNull()
        }
    }
#else
    extension JSON {
        /// Converts a value of the types that `JSONSerialization` uses; needs the package trait Foundation.
        @available(
            *, unavailable,
            message:
                "Enable the package trait Foundation in Package.swift: .package(url: \"…/errand.git\", …, traits: [\"Foundation\"])"
        )
        public init(foundation object: Any?) throws(JSONError) {
            throw JSONError(.notRepresentable)
        }

        /// The value in the types of `JSONSerialization`; needs the package trait Foundation.
        @available(
            *, unavailable,
            message:
                "Enable the package trait Foundation in Package.swift: .package(url: \"…/errand.git\", …, traits: [\"Foundation\"])"
        )
        public var foundationObject: Any { self }
    }
#endif
