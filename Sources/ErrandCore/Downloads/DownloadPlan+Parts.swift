import ErrandHTTP
public import ErrandSystem

extension DownloadPlan {
    /// A download that has not ended successfully: its part file and what the journal records about it.
    public struct Part: Sendable, Hashable {
        /// The part file.
        public var file: URL
        /// The requested URL; `nil` if the download cannot be resumed.
        public var url: String?
        /// The number of bytes that are present: the size of the part file, unless parallel ranges have left gaps.
        public var bytes: Int64
        /// The size of the finished file in bytes; `nil` while unknown.
        public var total: Int64?
        /// The time of the last change.
        public var modified: Date

        package init(file: URL, url: String?, bytes: Int64, total: Int64?, modified: Date) {
            self.file = file
            self.url = url
            self.bytes = bytes
            self.total = total
            self.modified = modified
        }
    }
}
