import Errand
import ErrandTesting
import Foundation
import Terminal

/// A tour of a generated client: each step sends a request to scripted responses, and checks both.
@main
@MainActor
enum Main {
    static let screen = Screen()
    static let checks = Checks(screen)
    static let transport = ScriptedTransport()
    static let agent = RequestAgent(
        configuration: Petstore.configuration(credentials: Petstore.apiKey("key")),
        transport: transport)

    static func main() async {
        do {
            try await pages()
            try await bodies()
            try await forms()
            try await errors()
            try await streams()
        } catch {
            checks.check("The tour ends without an error: \(error)", false)
        }
        checks.check("Every request was scripted.", transport.failures.isEmpty)
        print("\(checks.count - checks.failures) of \(checks.count) checks")
        if checks.failures == 0 { print("Passed.") }
        exit(checks.failures == 0 ? 0 : 1)
    }

    private static func lastRequest() async throws -> (
        url: String, body: String, headers: HTTPFields
    ) {
        guard let request = transport.requests.last else { return ("", "", [:]) }
        let body = String(decoding: try await request.collectedBody(), as: UTF8.self)
        return (request.url.string, body, request.headers)
    }

    /// Parameters in all places, pages, variants, and values that the document does not name.
    private static func pages() async throws {
        let base = "/v2/pets"
        transport.on(
            .get, base,
            .json(
                #"""
                {"pets": [{"id": 1, "name": "Rex", "kind": "dog", "status": "available"},
                    {"id": 2, "name": "Tom", "kind": "cat", "status": "lost", "lives": 9}], "next_cursor": "b"}
                """#),
            .json(#"{"pets": [{"id": 3, "name": "Bo", "kind": "ox", "status": "sold"}]}"#))
        let list = ListPets(
            limit: 2, status: [.available, .sold],
            bornAfter: FullDate(year: 2024, month: 2, day: 1),
            filter: ListPets.Filter(maxPrice: 9.5), session: "s1")
        var pets: [Pet] = []
        for try await pet in list.items(on: agent) { pets.append(pet) }
        let request = try await lastRequest()
        checks.check("Two pages have three pets.", pets.count == 3)
        checks.check(
            "Lists, dates and objects are written as the document says.",
            request.url.contains("limit=2&status=available,sold&born_after=2024-02-01")
                && request.url.contains("filter%5Bmax_price%5D=9.5"))
        checks.check("The second page has the cursor.", request.url.contains("cursor=b"))
        checks.check("The key is sent.", request.headers[.custom("X-Api-Key")] == "key")
        checks.check("The cookie is sent.", request.headers[.cookie] == "session=s1")
        if case .cat(let cat)? = pets.dropFirst().first {
            checks.check("An unknown status is kept.", cat.status == PetStatus(rawValue: "lost"))
            checks.check("A variant has its members.", cat.lives == 9)
        } else {
            checks.check("The second pet is a cat.", false)
        }
        if case .other(let json)? = pets.last {
            checks.check("An unknown variant is kept.", json["kind"].string == "ox")
        } else {
            checks.check("The third pet is of an unknown kind.", false)
        }
    }

    /// Bodies in JSON: only what the client writes is sent.
    private static func bodies() async throws {
        let dog =
            #"{"id": 4, "name": "Ada", "kind": "dog", "status": "available", "parent": {"name": "Eve"}}"#
        transport.on(.post, "/v2/pets", .json(dog, status: .created))
        let created = try await CreatePet(
            pet: .dog(DogInput(name: "Ada", status: .available, chipSecret: "c", breed: "collie"))
        ).value(on: agent)
        let request = try await lastRequest()
        checks.check(
            "The body has the discriminator and no number.",
            request.body.contains(#""kind":"dog""#) && !request.body.contains(#""id""#))
        if case .dog(let dog) = created {
            checks.check("A recursive member is decoded.", dog.parent?.name == "Eve" && dog.id == 4)
        } else {
            checks.check("The created pet is a dog.", false)
        }
        transport.on(.patch, "/v2/pets/4", ScriptedResponse(status: .noContent))
        let changed = try await ChangePet(
            petId: 4, content: [ChangePet.ContentItem(op: .replace, path: "/name", value: "Eva")]
        ).value(on: agent)
        let patch = try await lastRequest()
        checks.check("An empty response is nil.", changed == nil)
        checks.check(
            "The content type is that of the document.",
            patch.headers[.contentType] == "application/json-patch+json")
        checks.check("Credentials are not sent where none are needed.", try await sendsNoKey())
    }

    private static func sendsNoKey() async throws -> Bool {
        let cat = #"{"id": 5, "name": "Tom", "kind": "cat", "status": "sold"}"#
        transport.on(.get, "/v2/pets/5", .json(cat))
        _ = try await GetPet(petId: 5).value(on: agent)
        return try await lastRequest().headers[.custom("X-Api-Key")] == nil
    }

    /// Forms, parts, and outputs by status.
    private static func forms() async throws {
        transport.on(
            .post, "/v2/orders", .json(#"{"url": "https://pay.example/1"}"#, status: .accepted))
        let output = try await PlaceOrder(pet: 4, gift: true).value(on: agent)
        let form = try await lastRequest()
        checks.check("A form has its fields.", form.body == "pet=4&gift=true")
        if case .accepted(let payment) = output {
            checks.check("The status decides the output.", payment.url == "https://pay.example/1")
        } else {
            checks.check("The order was accepted.", false)
        }
        transport.on(.post, "/v2/pets/4/photos", ScriptedResponse(status: .accepted))
        try await UploadPhotos(
            petId: 4, title: "Ada", photos: [.data("", Data("jpeg".utf8), filename: "a.jpg")],
            tags: ["small"], position: Position(x: 1, y: 2)
        ).value(on: agent)
        let parts = try await lastRequest()
        checks.check(
            "Parts have the names of the document.",
            parts.body.contains(#"name="photos"; filename="a.jpg""#)
                && parts.body.contains(#"name="tags""#) && parts.body.contains(#"{"x":1,"y":2}"#))
    }

    /// Bodies of errors by status.
    private static func errors() async throws {
        transport.on(
            .post, "/v2/pets",
            .json(#"{"members": {"name": "is empty"}}"#, status: .unprocessableContent),
            .json(#"{"message": "closed"}"#, status: .serviceUnavailable))
        let request = CreatePet(pet: .cat(CatInput(name: "", status: .sold)))
        do {
            _ = try await request.value(on: agent)
        } catch {
            let body = error.body(as: InvalidMembers.self)
            checks.check("The status decides the error.", body?.members["name"] == "is empty")
        }
        do {
            _ = try await request.value(on: agent)
        } catch {
            let body = error.body(as: PetstoreError.self)
            checks.check("Other statuses have the error of the service.", body?.message == "closed")
        }
    }

    /// Events and lines, while they arrive.
    private static func streams() async throws {
        let events =
            "data: {\"food\": \"hay\"}\n\ndata: {\"food\": {\"oats\": 20}}\n\ndata: [DONE]\n\n"
        transport.on(
            .get, "/v2/pets/4/feeding",
            ScriptedResponse(
                status: .ok, headers: [.contentType: "text/event-stream"], body: Data(events.utf8)))
        var meals: [String] = []
        for try await meal in try await WatchFeeding(petId: 4).events(on: agent) {
            switch meal.food {
            case .string(let name): meals.append(name)
            case .dictionary(let parts): meals.append(parts.keys.joined())
            case .other: meals.append("?")
            }
        }
        checks.check("Events have the type of the document.", meals == ["hay", "oats"])
    }
}
