package import HTTPTypes

extension Response {
    /// A safe file name for the response: from `Content-Disposition` (RFC 6266, RFC 8187), otherwise from the URL's
    /// path, otherwise `download`.
    ///
    /// It is a single path component that is safe to append to a directory on Linux, macOS and Windows: only the last
    /// component of the server's file name is used, unsafe characters become underscores, and it is neither hidden nor
    /// longer than 240 bytes. The caller must check whether the file exists already and whether its type is acceptable.
    public var suggestedFilename: String {
        FileName.proposed(by: headers) ?? FileName.last(of: url)
    }
}

extension FileName {
    /// The safe file name of `Content-Disposition`; `nil` if there is none.
    package static func proposed(by headers: HTTPFields) -> String? {
        headers[fields: .contentDisposition].first.map(\.receivedText)
            .flatMap(ContentDisposition.init)?.filename.flatMap(lastComponent)
    }
}
