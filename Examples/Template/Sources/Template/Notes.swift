import Errand
import Foundation

/// A note as the service has it.
struct Note: Codable, Sendable, Equatable {
    var id: Int
    var title: String
    var createdAt: Date
}

/// One note; a stored one is used for a minute.
final class GetNote: TemplateRequest, DecodableOutput {
    typealias Output = Note
    let id: Int
    init(id: Int) { self.id = id }

    override var url: EndpointURL { "notes/\(id)" }
    override var cacheSeconds: Int { 60 }
}

/// The notes that contain a text; `items()` requests page by page.
final class FindNotes: TemplateRequest, DecodableOutput {
    typealias Output = [Note]
    let text: String
    init(_ text: String) { self.text = text }

    override var url: EndpointURL { "notes" }
    override var arguments: Arguments? { ["text": text] }
}

/// Creates a note, and has it as its output.
final class CreateNote: TemplateRequest, DecodableOutput {
    typealias Output = Note
    let title: String
    init(title: String) { self.title = title }

    override var url: EndpointURL { "notes" }
    override var method: HTTPMethod { .post }
    override var requestSerializer: RequestSerializer { .json }
    override var arguments: Arguments? { ["title": title] }
    override var validator: JSONShape? { ["id": .int, "title": .string] }
}
