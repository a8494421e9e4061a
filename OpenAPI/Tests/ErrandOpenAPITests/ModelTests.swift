import Testing

@testable import ErrandOpenAPI

/// Models of schemas: one feature in each test.
@Suite(.limited) struct ModelTests {
    private func models(
        _ schemas: String, _ change: (inout Generator.Options) -> Void = { _ in }
    ) -> String {
        let lines = schemas.split(separator: "\n", omittingEmptySubsequences: false)
        let indented = lines.map { "    " + $0 }.joined(separator: "\n")
        let output = generate("paths: {}\ncomponents:\n  schemas:\n" + indented, change)
        #expect(output.faults.isEmpty)
        return output.models
    }

    @Test func formatsAndKinds() {
        let text = models(
            """
            Kinds:
              type: object
              required: [text, whole, big, real, flag, at, on, id, bytes, list, table, free, any]
              properties:
                text: {type: string}
                whole: {type: integer, format: int32}
                big: {type: integer, format: int64}
                real: {type: number}
                flag: {type: boolean}
                at: {type: string, format: date-time}
                on: {type: string, format: date}
                id: {type: string, format: uuid}
                bytes: {type: string, format: byte}
                list: {type: array, items: {type: string, format: uri}}
                table: {type: object, additionalProperties: {type: integer}}
                free: {type: object}
                any: {}
            """)
        #expect(
            text == """
                nonisolated struct Kinds: Codable, Sendable {
                    var text: String
                    var whole: Int
                    var big: Int64
                    var real: Double
                    var flag: Bool
                    var at: Date
                    var on: FullDate
                    var id: UUID
                    var bytes: Data
                    var list: [String]
                    var table: [String: Int]
                    var free: [String: JSON]
                    var any: JSON
                }

                """)
    }

    @Test func nullsOfBothVersions() {
        let text = models(
            """
            Nulls:
              type: object
              required: [a, b, c, d]
              properties:
                a: {type: string, nullable: true}
                b: {type: [integer, 'null']}
                c: {oneOf: [{type: 'null'}, {$ref: '#/components/schemas/Other'}]}
                d: {anyOf: [{type: string}, {type: 'null'}]}
            Other: {type: object, properties: {x: {type: number}}}
            """)
        #expect(
            text.contains(
                "    var a: String?\n    var b: Int?\n    var c: Other?\n    var d: String?\n"))
    }

    @Test func enumerationsAreOpenAndConstantsHaveADefault() {
        let text = models(
            """
            Light:
              description: The light
              type: string
              enum: [red, off-on, '1st', default]
            Lamp:
              type: object
              required: [kind, level]
              properties:
                kind: {type: string, enum: [lamp]}
                version: {const: 2}
                level: {type: integer, enum: [1, 2], x-enum-varnames: [LOW, HIGH]}
                light: {$ref: '#/components/schemas/Light'}
            """)
        #expect(
            text == """
                nonisolated struct Lamp: Codable, Sendable {
                    var kind: String = "lamp"
                    /// Always `2`.
                    var version: Int?
                    var level: Level
                    var light: Light?

                    struct Level: RawRepresentable, Hashable, Codable, Sendable, ArgumentValue {
                        var rawValue: Int

                        static let low = Self(rawValue: 1)
                        static let high = Self(rawValue: 2)
                    }
                }

                /// The light.
                nonisolated struct Light: RawRepresentable, Hashable, Codable, Sendable, ArgumentValue {
                    var rawValue: String

                    static let red = Self(rawValue: "red")
                    static let offOn = Self(rawValue: "off-on")
                    static let value1st = Self(rawValue: "1st")
                    static let `default` = Self(rawValue: "default")
                }

                """)
    }

    @Test func titledConstantsAreAnEnumeration() {
        let text = models(
            """
            Level:
              type: integer
              oneOf:
                - {title: LOW, description: Little, const: 0}
                - {title: HIGH, const: 3}
            Model:
              anyOf: [{type: string}, {type: string, enum: [a, b]}]
            """)
        #expect(
            text.contains(
                "    /// Little.\n    static let low = Self(rawValue: 0)\n    static let high = Self(rawValue: 3)\n"
            ))
        #expect(text.contains("nonisolated struct Model: RawRepresentable"))
    }

    /// Two variants are one type, and both have the same value of the discriminator.
    @Test func variantsWithOneValueAreOneCase() {
        let text = models(
            """
            Item:
              oneOf: [{$ref: '#/components/schemas/Wrapper'}, {$ref: '#/components/schemas/Note'}, {$ref: '#/components/schemas/Link'}]
              discriminator: {propertyName: type}
            Wrapper: {oneOf: [{$ref: '#/components/schemas/Note'}]}
            Note: {type: object, required: [type], properties: {type: {const: note}, text: {type: string}}}
            Link: {type: object, required: [type], properties: {type: {const: link}, to: {type: string}}}
            """)
        #expect(text.contains(#"case "note": self ="#) && text.contains(#"case "link": self ="#))
    }

    @Test func discriminatorChoosesTheCase() {
        let text = models(
            """
            Pet:
              oneOf:
                - $ref: '#/components/schemas/Cat'
                - $ref: '#/components/schemas/Dog'
              discriminator: {propertyName: pet_type, mapping: {cat: Cat, kitten: '#/components/schemas/Cat'}}
            Cat: {type: object, required: [pet_type], properties: {pet_type: {type: string}}}
            Dog: {type: object, required: [pet_type], properties: {pet_type: {type: string}}}
            """)
        #expect(
            text.contains(
                """
                nonisolated enum Pet: Codable, Sendable {
                    case cat(Cat)
                    case dog(Dog)
                    /// A value that the document does not describe.
                    case other(JSON)

                    private enum CodingKeys: String, CodingKey { case petType = "pet_type" }

                    init(from decoder: any Decoder) throws {
                        let container = try decoder.container(keyedBy: CodingKeys.self)
                        switch try container.decodeIfPresent(String.self, forKey: .petType) {
                        case "cat", "kitten": self = .cat(try Cat(from: decoder))
                        case "Dog": self = .dog(try Dog(from: decoder))
                        default: self = .other(try JSON(from: decoder))
                        }
                    }

                    func encode(to encoder: any Encoder) throws {
                        switch self {
                        case .cat(let value): try value.encode(to: encoder)
                        case .dog(let value): try value.encode(to: encoder)
                        case .other(let value): try value.encode(to: encoder)
                        }
                    }
                }
                """))
    }

    @Test func constantsOfVariantsAreADiscriminator() {
        let text = models(
            """
            Shape:
              anyOf:
                - {type: object, title: A circle, required: [type], properties: {type: {const: 1}, r: {type: number}}}
                - {type: object, required: [type], properties: {type: {enum: [2]}, a: {type: number}}}
            """)
        #expect(text.contains("switch try container.decodeIfPresent(Int.self, forKey: .type) {"))
        #expect(text.contains("case 1: self = .aCircle(try ACircle(from: decoder))"))
        #expect(text.contains("        var type: Int = 2\n"))
    }

    @Test func otherVariantsAreTriedInOrder() {
        let text = models(
            """
            Value:
              oneOf:
                - {type: object, properties: {a: {type: string}}}
                - type: string
                - {type: array, items: {type: string}}
                - type: integer
                - {type: object, required: [b], properties: {b: {type: string}}}
            """)
        let order = ["Int", "String", "[String]", "B", "Variant1"]
        let places = order.compactMap {
            text.firstRange(of: "try? container.decode(\($0).self)")?.lowerBound
        }
        #expect(places.count == order.count && places == places.sorted())
    }

    @Test func partsOfAllOfAreOneStructure() {
        let text = models(
            """
            Base: {type: object, required: [id], properties: {id: {type: integer}, kind: {type: string}}}
            Full:
              allOf:
                - $ref: '#/components/schemas/Base'
                - {type: object, properties: {kind: {enum: [full]}, name: {type: string}}}
                - required: [name]
              description: All of it
            Alias: {allOf: [{$ref: '#/components/schemas/Base'}], description: The same}
            User: {type: object, properties: {base: {allOf: [{$ref: '#/components/schemas/Base'}], nullable: true}}}
            """)
        #expect(
            text.contains(
                """
                /// All of it.
                nonisolated struct Full: Codable, Sendable {
                    var id: Int
                    /// Always `"full"`.
                    var kind: String?
                    var name: String
                }
                """))
        #expect(text.contains("    var base: Base?\n"))
        #expect(!text.contains("Alias"))
    }

    @Test func readOnlyAndWriteOnlyMembersDivideATypeThatBothDirectionsUse() {
        let output = generate(
            """
            paths:
              /users:
                post:
                  operationId: addUser
                  requestBody:
                    required: true
                    content: {application/json: {schema: {$ref: '#/components/schemas/User'}}}
                  responses:
                    '200':
                      description: ok
                      content:
                        application/json:
                          schema: {type: array, items: {$ref: '#/components/schemas/User'}}
            components:
              schemas:
                User:
                  type: object
                  required: [id, secret]
                  properties:
                    id: {type: integer, readOnly: true}
                    secret: {type: string, writeOnly: true}
            """)
        #expect(
            output.models == """
                nonisolated struct User: Codable, Sendable {
                    var id: Int
                }

                nonisolated struct UserInput: Codable, Sendable {
                    var secret: String
                }

                """)
        #expect(output.classes.contains("    typealias Output = [User]\n"))
        #expect(output.classes.contains("    let user: UserInput\n"))
    }

    @Test func recursionIsBroken() {
        let text = models(
            """
            Node: {type: object, properties: {next: {$ref: '#/components/schemas/Node'}, all: {type: array, items: {$ref: '#/components/schemas/Node'}}}}
            A: {type: object, properties: {b: {$ref: '#/components/schemas/B'}}}
            B: {type: object, required: [a], properties: {a: {$ref: '#/components/schemas/A'}}}
            Tree: {anyOf: [{type: string}, {type: object, required: [left], properties: {left: {$ref: '#/components/schemas/Tree'}}}]}
            List: {type: array, items: {$ref: '#/components/schemas/List'}}
            """)
        #expect(text.contains("    var next: Indirect<Node>?\n    var all: [Node]?\n"))
        #expect(text.contains("    var b: B?\n"))
        #expect(text.contains("    var a: Indirect<A>\n"))
        #expect(text.contains("nonisolated indirect enum Tree: Codable, Sendable {"))
    }

    @Test func additionalMembersAreKept() {
        let text = models(
            """
            Open:
              type: object
              required: [the_name]
              properties: {the_name: {type: string}}
              additionalProperties: {type: integer}
            """)
        #expect(
            text == """
                nonisolated struct Open: Codable, Sendable {
                    var theName: String
                    /// The members without a property.
                    var additionalProperties: [String: Int] = [:]

                    private enum CodingKeys: String, CodingKey, CaseIterable {
                        case theName = "the_name"
                    }

                    init(theName: String, additionalProperties: [String: Int] = [:]) {
                        self.theName = theName
                        self.additionalProperties = additionalProperties
                    }

                    init(from decoder: any Decoder) throws {
                        let container = try decoder.container(keyedBy: CodingKeys.self)
                        theName = try container.decode(String.self, forKey: .theName)
                        additionalProperties = try MemberKey.members(
                            of: decoder,
                            besides: CodingKeys.allCases.map(\\.rawValue))
                    }

                    func encode(to encoder: any Encoder) throws {
                        var container = encoder.container(keyedBy: CodingKeys.self)
                        try container.encode(theName, forKey: .theName)
                        try MemberKey.encode(additionalProperties, to: encoder)
                    }
                }

                """)
    }

    @Test func nestedTypesHaveOneLevelAndNoNameOfTheTopLevel() {
        let text = models(
            """
            Order:
              type: object
              properties:
                address: {type: object, properties: {country: {type: object, properties: {code: {type: string}}}}}
                category: {type: object, properties: {a: {type: string}}}
                line_items: {type: array, items: {type: object, properties: {sku: {type: string}}}}
                data: {type: object, properties: {b: {type: string}}}
            Category: {type: string, enum: [x, y]}
            """)
        #expect(text.contains("    var address: Address?\n    var category: OrderCategory?\n"))
        #expect(text.contains("    var lineItems: [LineItem]?\n    var data: OrderData?\n"))
        #expect(
            text.contains(
                "    struct Address: Codable, Sendable {\n        var country: Country?\n    }\n"))
        #expect(text.contains("    struct Country: Codable, Sendable {"))
    }

    @Test func documentationIsOneSentenceAndTheRest() {
        let text = models(
            """
            Pet:
              description: "A pet. It has a name\\n\\n- a\\n- b"
              type: object
              properties:
                a: {type: string, description: 'Short', default: x, deprecated: true}
                b: {type: string, description: "# Title\\r\\nText */ with  \\"signs\\""}
            """)
        #expect(
            text == """
                /// A pet.
                ///
                /// It has a name
                ///
                /// - a
                /// - b
                nonisolated struct Pet: Codable, Sendable {
                    /// Short.
                    ///
                    /// Default: `"x"`.
                    @available(*, deprecated)
                    var a: String?
                    /// Title Text */ with  "signs".
                    var b: String?
                }

                """)
    }

    @Test func publicModelsHaveInitializers() {
        let text = models(
            """
            Pet: {type: object, required: [name, kind], properties: {name: {type: string}, kind: {const: pet}, tag: {type: string}}}
            """
        ) { $0.access = .public }
        #expect(
            text == """
                /// The schema `Pet`.
                nonisolated public struct Pet: Codable, Sendable {
                    /// The member `name`.
                    public var name: String
                    /// The member `kind`.
                    public var kind: String = "pet"
                    /// The member `tag`.
                    public var tag: String?

                    /// Creates a value.
                    public init(name: String, kind: String = "pet", tag: String? = nil) {
                        self.name = name
                        self.kind = kind
                        self.tag = tag
                    }
                }

                """)
    }

    @Test func requiredMembersOfRequestsAreWrittenAsNull() {
        let output = generate(
            """
            paths:
              /a:
                put:
                  operationId: put
                  requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}
                  responses: {'204': {description: ok}}
            components:
              schemas:
                A: {type: object, required: [a], properties: {a: {type: [string, 'null']}, b: {type: [string, 'null']}}}
            """)
        #expect(output.models.contains("try container.encode(a, forKey: .a)\n"))
        #expect(output.models.contains("try container.encodeIfPresent(b, forKey: .b)\n"))
        #expect(output.classes.contains("override var body: HTTPBody? { a.map { .json($0) } }\n"))
    }
}
