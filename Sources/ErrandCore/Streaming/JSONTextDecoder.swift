import ErrandHTTP
import ErrandJSON

/// Decodes one of many JSON texts of a body, with errors that name the text.
struct JSONTextDecoder {
    let decoder: JSONReader

    /// Decodes a text.
    ///
    /// - Parameter name: The name of the text in error messages, such as `line 3`.
    /// - Throws: ``RequestError/Code/undecodable``, with the path in the JSON.
    func decode<T: Decodable>(
        _ type: T.Type, from text: UnsafeRawBufferPointer, name: @autoclosure () -> String
    ) throws(RequestError) -> T {
        var root = JSON.absent
        do {
            root = try JSON(parsing: text, options: decoder.options)
            return try decoder.decode(type, from: root)
        } catch {
            throw RequestError(
                .undecodable, stage: .decode,
                "Could not decode \(name()) as \(type): \(reason(for: error, in: root))",
                underlying: error)
        }
    }

    private func reason(for error: any Error, in root: JSON) -> String {
        guard let error = error as? JSONError else {
            return DecodingErrorFormatter(root: root, base: [], decoder: decoder).describe(error)
        }
        // The number of the line within the text would be mistaken for that of the body.
        guard error.line == 1 else { return "it is not valid JSON: \(error)." }
        return "it is not valid JSON: \(error.kind) at column \(error.column) "
            + "(byte \(error.byteOffset))."
    }
}
