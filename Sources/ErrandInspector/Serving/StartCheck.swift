import ErrandHTTP

/// Whether an inspector may start; pure.
struct StartCheck: Sendable {
    var isReleaseBuild: Bool
    var isEnabledInReleaseBuilds: Bool
    var hasInspector: Bool
    var limits: [String: Int]

    /// Whether this is a release build.
    static var isReleaseBuild: Bool {
        #if DEBUG
            false
        #else
            true
        #endif
    }

    func check() throws(RequestError) {
        var problem: String?
        if isReleaseBuild, !isEnabledInReleaseBuilds {
            problem =
                "The inspector is disabled in release builds, because its page shows all requests. To enable it, set "
                + "Options.isEnabledInReleaseBuilds."
        } else if hasInspector {
            problem = "The agent has an inspector. Use that one, or stop it first."
        } else if let limit = limits.sorted(by: { $0.key < $1.key }).first(where: { $0.value < 1 })
        {
            problem = "Options.\(limit.key) is \(limit.value). Set at least 1."
        }
        guard let problem else { return }
        throw RequestError(.invalidConfiguration, stage: .build, problem)
    }
}
