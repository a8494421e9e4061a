import HTTPTypes

extension Response {
    /// A name for a file with this answer in it: the server's (`Content-Disposition`, RFC 6266), else the last part of the
    /// address's path; `download` where neither is usable.
    ///
    /// One path component, safe to append to a directory: of what the server says only the last component counts, and
    /// controls become underscores. Whether a file of that name is there already, and whether its kind is welcome, is yours to
    /// check.
    public var suggestedFilename: String {
        let said = headers[values: .contentDisposition].first
            .flatMap(ContentDisposition.init)?.filename
        if let said {
            // What a server would have in another directory has no directory here.
            let last = said.unicodeScalars.split(
                omittingEmptySubsequences: false, whereSeparator: { $0 == "/" || $0 == "\\" }
            ).last.map { String($0) }
            if let last, let name = DownloadDestination.safeName(last) { return name }
        }
        return DownloadDestination.fileName(of: url)
    }
}
