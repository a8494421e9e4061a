import HTTPTypes

extension Response {
    /// A safe file name for the response: from `Content-Disposition` (RFC 6266), otherwise from the URL's path,
    /// otherwise `download`.
    ///
    /// It is a single path component that is safe to append to a directory: only the last component of the
    /// server's file name is used, and control characters become underscores. The caller must check whether the
    /// file exists already and whether its type is acceptable.
    public var suggestedFilename: String {
        let serverName = headers[values: .contentDisposition].first
            .flatMap(ContentDisposition.init)?.filename
        if let serverName {
            // Only the last path component of the server's file name is used.
            let last = serverName.unicodeScalars.split(
                omittingEmptySubsequences: false, whereSeparator: { $0 == "/" || $0 == "\\" }
            ).last.map { String($0) }
            if let last, let name = FileName.safe(last) { return name }
        }
        return FileName.last(of: url)
    }
}
