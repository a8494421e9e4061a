/// Writes the types that models of some documents need.
enum SupportWriter {
    enum Part: CaseIterable {
        case indirect, fullDate, members, variants, events, parts, json, lists, positions, paths
    }

    static func write(_ parts: Set<Part>, _ access: String, to text: inout Text) {
        for part in Part.allCases where parts.contains(part) {
            text.separate()
            let long = "LosslessStringConvertible, ArgumentValue {"
            let broken = "LosslessStringConvertible,\n    ArgumentValue\n{"
            // With an access level, this line is too long.
            let source = source(of: part).replacing(long, with: access.isEmpty ? long : broken)
            for line in source.replacing("@ACCESS ", with: access).split(
                separator: "\n", omittingEmptySubsequences: false)
            {
                text.add(String(line))
            }
        }
    }

    private static func source(of part: Part) -> String {
        switch part {
        case .indirect:
            """
            /// A value in a box, so that a type can contain itself.
            @dynamicMemberLookup
            nonisolated @ACCESS indirect enum Indirect<Value: Codable & Sendable>: Codable, Sendable {
                /// The value.
                case boxed(Value)

                /// Puts a value into a box.
                @ACCESS init(_ value: Value) { self = .boxed(value) }

                /// Reads the value.
                @ACCESS init(from decoder: any Decoder) throws { self = .boxed(try Value(from: decoder)) }

                /// Writes the value.
                @ACCESS func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

                /// The value.
                @ACCESS var value: Value {
                    switch self {
                    case .boxed(let value): value
                    }
                }

                /// A member of the value.
                @ACCESS subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member {
                    value[keyPath: path]
                }
            }
            """
        case .fullDate:
            """
            /// A day without a time: `2026-01-31` (RFC 3339, `full-date`).
            nonisolated @ACCESS struct FullDate: Codable, Hashable, Sendable, LosslessStringConvertible, ArgumentValue {
                /// The year, from 0 to 9999.
                @ACCESS var year: Int
                /// The month, from 1 to 12.
                @ACCESS var month: Int
                /// The day, from 1 to 31.
                @ACCESS var day: Int

                /// Creates a day.
                @ACCESS init(year: Int, month: Int, day: Int) {
                    self.year = year
                    self.month = month
                    self.day = day
                }

                /// Reads a day; `nil` for other text.
                @ACCESS init?(_ description: String) {
                    let parts = description.split(separator: "-", omittingEmptySubsequences: false)
                    guard parts.map(\\.utf8.count) == [4, 2, 2], let year = Int(parts[0]),
                        let month = Int(parts[1]), let day = Int(parts[2]), (1...12).contains(month),
                        (1...31).contains(day)
                    else { return nil }
                    self.init(year: year, month: month, day: day)
                }

                /// Reads a day.
                @ACCESS init(from decoder: any Decoder) throws {
                    let container = try decoder.singleValueContainer()
                    guard let date = FullDate(try container.decode(String.self)) else {
                        throw DecodingError.dataCorruptedError(
                            in: container, debugDescription: "The text is not a date such as 2026-01-31.")
                    }
                    self = date
                }

                /// Writes the day as text.
                @ACCESS func encode(to encoder: any Encoder) throws {
                    var container = encoder.singleValueContainer()
                    try container.encode(description)
                }

                /// The day as text.
                @ACCESS var description: String {
                    func digits(_ number: Int, _ count: Int) -> String {
                        String(repeating: "0", count: max(0, count - "\\(number)".utf8.count)) + "\\(number)"
                    }
                    return "\\(digits(year, 4))-\\(digits(month, 2))-\\(digits(day, 2))"
                }

                /// The day as text.
                @ACCESS var argumentNode: Arguments.Node { description.argumentNode }
            }
            """
        case .members:
            """
            /// A key of any name, for members without a property.
            nonisolated struct MemberKey: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }

                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }

                /// Reads the members of an object that have no property.
                static func members<Value: Decodable>(
                    of decoder: any Decoder, besides known: [String]
                ) throws -> [String: Value] {
                    let container = try decoder.container(keyedBy: MemberKey.self)
                    var members: [String: Value] = [:]
                    for key in container.allKeys where !known.contains(key.stringValue) {
                        members[key.stringValue] = try container.decode(Value.self, forKey: key)
                    }
                    return members
                }

                /// Writes members into an object.
                static func encode<Value: Encodable>(
                    _ members: [String: Value], to encoder: any Encoder
                ) throws {
                    var container = encoder.container(keyedBy: MemberKey.self)
                    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                        try container.encode(value, forKey: MemberKey(stringValue: key))
                    }
                }
            }
            """
        case .variants:
            """
            nonisolated extension JSON {
                /// The positions of variants, those first that name most members of the object.
                func order(ofVariants names: [[String]]) -> [Int] {
                    let members = Set((object ?? []).map(\\.key))
                    let counts = names.map { $0.count { members.contains($0) } }
                    return names.indices.sorted { (-counts[$0], $0) < (-counts[$1], $1) }
                }
            }
            """
        case .events:
            """
            /// The events of a response, each decoded from JSON; `[DONE]` ends them.
            nonisolated @ACCESS struct Events<Element: Decodable & Sendable>: AsyncSequence, Sendable {
                let events: ResponseStream.ServerSentEvents

                /// Creates an iterator.
                @ACCESS func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

                /// Decodes one event after another.
                @ACCESS struct Iterator: AsyncIteratorProtocol {
                    var events: ResponseStream.ServerSentEvents.Iterator

                    /// The next event; `nil` after the last one.
                    @ACCESS mutating func next() async throws(RequestError) -> Element? {
                        guard let event = try await events.next(), event.data != "[DONE]" else { return nil }
                        do {
                            let json = try JSON(parsing: event.data)
                            return try JSONReader.responseDefault.decode(Element.self, from: json)
                        } catch {
                            throw RequestError(
                                .undecodable, stage: .decode,
                                "The event is not \\(Element.self). See the underlying error.",
                                underlying: error)
                        }
                    }
                }
            }
            """
        case .parts:
            """
            nonisolated extension HTTPBody.Part {
                /// The part with the name of a field.
                func named(_ name: String) -> HTTPBody.Part {
                    var part = self
                    part.name = name
                    return part
                }
            }
            """
        case .json:
            """
            nonisolated extension JSON {
                /// Encodes a value of a parameter; absent if it has a number that JSON does not have.
                init(encoding value: some Encodable) {
                    self = (try? JSONWriter.requestDefault.encodeJSON(value)) ?? .absent
                }
            }
            """
        case .lists:
            """
            nonisolated extension JSON {
                /// The members of an object as text, without those that are null.
                private var texts: [(name: String, value: String)] {
                    (object ?? []).filter { !$0.value.isNull }
                        .map { ($0.key, $0.value.string ?? $0.value.description) }
                }

                /// The names and values of an object in turn: `R`, `100`, `G`, `200`.
                var list: [String] { texts.flatMap { [$0.name, $0.value] } }

                /// The members of an object: `R=100`, `G=200`.
                var pairs: [String] { texts.map { "\\($0.name)=\\($0.value)" } }
            }
            """
        case .positions:
            """
            nonisolated extension JSON {
                /// The value with an object in place of each list, whose names are the positions of its items.
                var indexed: JSON {
                    if let array {
                        return JSON(
                            members: array.enumerated().map { ("\\($0.offset)", $0.element.indexed) })
                    }
                    guard let object else { return self }
                    return JSON(members: object.map { ($0.key, $0.value.indexed) })
                }
            }
            """
        case .paths:
            """
            nonisolated extension JSON {
                /// The members of an object in a path: `R=100;G=200`.
                func path(separator: String) -> EndpointURL {
                    let members = (object ?? []).filter { !$0.value.isNull }
                    // An empty value is refused as a segment.
                    guard !members.isEmpty else { return "\\("")" }
                    return members.enumerated().reduce("") { url, member in
                        let (name, value) = member.element
                        let start = member.offset > 0 ? separator : ""
                        return "\\(url)\\(raw: start)\\(name)=\\(value.string ?? value.description)"
                    }
                }
            }
            """
        }
    }
}
