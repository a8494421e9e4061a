extension HTTPBody? {
    /// Whether both are missing, or have the same bytes in memory and the same trailers.
    package func isSame(as other: HTTPBody?) -> Bool {
        guard let self else { return other == nil }
        guard self.trailerSource === other?.trailerSource, case .data(let bytes) = self.storage,
            case .data(let others)? = other?.storage
        else { return false }
        return bytes == others
    }
}
