import ErrandJSON
import Foundation
import Testing

@testable import ErrandHTTP

/// The messages of decoding errors: original keys, the path, and what was found.
struct DecodingErrorTests {
    private struct User: Decodable {
        var nick: String
        var level: Int?
        var bornAt: Date?
        var items: [Item]?
        var role: Role?
        var accessToken: Int?
        var byName: [String: Item]?
        struct Item: Decodable { var id: Int }
        enum Role: String, Decodable { case admin }
    }

    private struct Wrapped: Decodable { var user: User }

    private func message<T: Decodable>(
        _ type: T.Type, _ body: String, at path: [String] = [],
        _ configure: (inout JSONReader) -> Void = { _ in }
    ) -> String {
        var decoder = JSONReader()
        configure(&decoder)
        let response = Response(status: 200, body: .data(Data(body.utf8)), url: HTTPURL())
        let error = #expect(throws: RequestError.self) {
            try response.decode(type, decoder: decoder, at: path)
        }
        #expect(error?.code == .undecodable && error?.stage == .decode)
        #expect(error?.underlying != nil)
        let prefix = "Could not decode the response as \(type): "
        #expect(error?.message.hasPrefix(prefix) == true)
        return String(error?.message.dropFirst(prefix.count) ?? "")
    }

    @Test func missingKeyIsNamed() {
        #expect(message(User.self, "{}") == "missing key 'nick' at $.")
        #expect(message(Wrapped.self, #"{"user":{}}"#) == "missing key 'nick' at $.user.")
        #expect(
            message(User.self, #"{"data":{"user":{}}}"#, at: ["data", "user"])
                == "missing key 'nick' at $.data.user.")
    }

    @Test func wrongTypeShowsTheValueThatWasFound() {
        func level(_ value: String) -> String {
            message(User.self, #"{"nick":"a","level":\#(value)}"#)
        }
        #expect(level(#""x\n""#) == #"expected Int at $.level, found a string."#)
        #expect(level("true") == "expected Int at $.level, found true.")
        #expect(level("[1]") == "expected Int at $.level, found an array of 1.")
        #expect(level("{}") == "expected Int at $.level, found an object.")
        #expect(level("1.5") == "invalid value at $.level, found the number 1.5.")
        #expect(
            message(User.self, #"{"nick":null}"#) == "expected String at $.nick, found null.")
        #expect(
            message(User.self, #"{"nick":"a","items":[{"id":1},{"id":"x"}]}"#)
                == #"expected Int at $.items[1].id, found a string."#)
        #expect(
            message(User.self, #"{"nick":"a","items":{}}"#)
                == "expected an array at $.items, found an object.")
        #expect(message(User.self, "[]") == "expected an object at $, found an array of 0.")
        #expect(
            message(User.self, #"{"nick":"a","role":"boss"}"#)
                == #"invalid value at $.role, found a string."#)
        #expect(
            message(User.self, #"{"nick":"a","byName":{"a b":{"id":null}}}"#)
                == #"expected Int at $.byName["a b"].id, found null."#)
    }

    @Test func absentValueIsFoundAsNothing() {
        #expect(
            message(User.self, #"{"data":1}"#, at: ["data", "user"])
                == "expected User at $.data.user, found nothing.")
        #expect(message(User.self, "nul").hasPrefix("the body is not valid JSON: "))
    }

    @Test func longAndSecretValuesAreNotShown() {
        let long = String(repeating: "sk_live_", count: 20)
        let cut = message(User.self, #"{"nick":"a","level":"\#(long)"}"#)
        #expect(cut == #"expected Int at $.level, found a string."#)
        #expect(
            message(User.self, #"{"nick":"a","accessToken":"abc"}"#)
                == "expected Int at $.accessToken, found a string.")
        #expect(
            message(User.self, #"{"session":{"nick":12345}}"#, at: ["session"])
                == "expected String at $.session.nick, found a number.")
    }

    @Test func convertedKeysAreShownInBothForms() {
        func snake(_ body: String) -> String {
            message([String: Person].self, body) { $0.keyDecodingStrategy = .convertFromSnakeCase }
        }
        #expect(
            snake(#"{"a_b":{"first_name":"a"}}"#)
                == "missing key 'home_address' (homeAddress) at $.a_b.")
        #expect(
            snake(#"{"a_b":{"first_name":1,"home_address":{"zip":1}}}"#)
                == "expected String at $.a_b.first_name (firstName), found the number 1.")
        #expect(
            snake(#"{"a_b":{"first_name":"a","home_address":{"zip":"x"}}}"#)
                == #"expected Int at $.a_b.home_address.zip, found a string."#)
        let custom = message(Person.self, #"{"FIRSTNAME":"a","HOMEADDRESS":1}"#) {
            $0.keyDecodingStrategy = .custom { path in
                let name = path.last?.stringValue.lowercased() ?? ""
                return Key(name == "firstname" ? "firstName" : "other")
            }
        }
        #expect(custom == "missing key 'homeAddress' (after the key strategy) at $.")
    }

    private struct Person: Decodable {
        var firstName: String
        var homeAddress: Address
        struct Address: Decodable { var zip: Int }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test(arguments: ["", " "]) func missingBodyNamesTheRemedy(body: String) throws {
        let response = Response(status: 204, body: .data(Data(body.utf8)), url: HTTPURL())
        let error = #expect(throws: RequestError.self) { try response.decode(User.self) }
        #expect(error?.code == .undecodable)
        #expect(
            error?.message
                == "Could not decode the response as User: the response with status 204 has no "
                + "body. Conform the endpoint to VoidOutput, or make the output optional (User?) if only some "
                + "responses have no body."
        )
        #expect(try response.decode(User?.self) == nil)
    }
}
