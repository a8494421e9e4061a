import ErrandSystem

extension HTTPBody {
    /// A body of the type `application/x-www-form-urlencoded`, for a form beside arguments in the query.
    ///
    /// Without a body, the arguments of POST, PUT and PATCH are such a form. The arguments are encoded at once. If that fails,
    /// the request ends with ``RequestError/Code/invalidArguments`` before anything is sent.
    ///
    /// - Parameter encoding: The styles of arrays, Booleans, dates and so on (default: those of AFNetworking).
    public static func form(
        _ arguments: Arguments, encoding: ArgumentEncoding = ArgumentEncoding()
    ) -> Self {
        do throws(RequestError) {
            return try encodedForm(arguments, encoding: encoding)
        } catch {
            return HTTPBody(storage: .invalid(error), contentType: formType(encoding))
        }
    }

    /// The same body.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``.
    package static func encodedForm(
        _ arguments: Arguments, encoding: ArgumentEncoding
    ) throws(RequestError) -> Self {
        .data(
            Data(try FormWriter.bytes(of: arguments, encoding: encoding)),
            contentType: formType(encoding))
    }

    private static func formType(_ encoding: ArgumentEncoding) -> String {
        let charset = encoding.charset.name
        return "application/x-www-form-urlencoded"
            + (charset.isEmpty ? "" : "; charset=\(charset)")
    }
}
