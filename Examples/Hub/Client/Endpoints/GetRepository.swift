import Errand

/// A repository with its latest asset.
final class GetRepository: HubRequest, DecodableOutput {
    typealias Output = Repository

    let name: RepositoryName
    init(_ name: RepositoryName) { self.name = name }

    override var url: EndpointURL { "repos/\(name.owner)/\(name.name)" }
}
