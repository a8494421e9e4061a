public import Errand
public import Foundation

/// A note as the service has it.
public struct Note: Codable, Sendable, Equatable {
    public var id: Int
    public var title: String
    public var createdAt: Date
}

/// One note. A stored one is used for a minute.
public final class GetNote: TemplateRequest, DecodableOutput {
    public typealias Output = Note
    public let id: Int
    public init(id: Int) { self.id = id }

    override public var url: EndpointURL { "notes/\(id)" }
    override public var cacheSeconds: Int { 60 }
}

/// The notes that contain a text; `items()` requests page by page.
public final class FindNotes: TemplateRequest, DecodableOutput {
    public typealias Output = [Note]
    public let text: String
    public init(_ text: String) { self.text = text }

    override public var url: EndpointURL { "notes" }
    override public var arguments: Arguments? { ["text": text] }
}

/// Creates a note, and has it as its output.
public final class CreateNote: TemplateRequest, DecodableOutput {
    public typealias Output = Note
    public let title: String
    public init(title: String) { self.title = title }

    override public var url: EndpointURL { "notes" }
    override public var method: HTTPMethod { .post }
    override public var requestSerializer: RequestSerializer { .json }
    override public var arguments: Arguments? { ["title": title] }
    override public var validator: JSONShape? { ["id": .int, "title": .string] }
}
