extension DownloadPlan {
    /// The URLs under which the part file of an earlier start is resumed.
    public enum URLRule: String, Sendable, Hashable {
        /// The same URL.
        case identical
        /// A URL that differs only in its query, such as a signed URL with an expiry time.
        case ignoringQuery
        /// Any URL, such as that of a mirror.
        case any

        package func accepts(_ url: String, for recorded: String) -> Bool {
            self == .any || resource(url) == resource(recorded)
        }

        /// The part of a URL that names the resource.
        package func resource(_ url: String) -> Substring {
            self == .identical ? url[...] : url.prefix(upToByte: "?").prefix(upToByte: "#")
        }
    }
}
