import Synchronization

/// A document with JSON Schemas, such as an OpenAPI document, for the references of shapes.
///
/// A schema is read when a shape first leads to it, and once, whatever the number of shapes that lead to it:
///
///     let document = SchemaDocument(try JSON(parsing: text))
///     let pet = try JSONShape(jsonSchema: ["$ref": "#/components/schemas/Pet"], in: document)
public final class SchemaDocument: Sendable {
    private let reader: Mutex<SchemaReader>

    /// Creates a document; its schemas are not read yet.
    public init(_ document: JSON) { reader = Mutex(SchemaReader(document: document)) }

    /// The shape of a schema whose references lead into the document.
    func shape(of schema: JSON) throws(JSONShape.SchemaError) -> JSONShape {
        let (root, problems, hasDefinitions) = reader.withLock { reader in
            let (root, problems) = reader.shape(ofRoot: schema)
            return (root, problems, reader.hasDefinitions)
        }
        guard problems.isEmpty else { throw JSONShape.SchemaError(problems: problems) }
        guard hasDefinitions else { return root }
        var shape = JSONShape(.defined(JSONShape.Box(root), self))
        shape.nulls = .byRule
        return shape
    }
}
