import Errand
import Foundation

/// Uploads a file as a new asset: a JSON part, and the file, which is read while it is sent.
final class UploadAsset: HubRequest, DecodableOutput {
    typealias Output = Asset

    let repo: RepositoryName
    let file: URL
    let asset: NewAsset

    init(_ file: URL, as asset: NewAsset, repo: RepositoryName) {
        self.file = file
        self.asset = asset
        self.repo = repo
    }

    override var url: EndpointURL { "repos/\(repo.owner)/\(repo.name)/assets" }
    override var method: HTTPMethod { .post }
    override var arguments: Arguments? { ["name": file.lastPathComponent] }
    // Otherwise the argument would become the first part of the body.
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.argumentPlacement = .query
    }
    override var body: HTTPBody? {
        .multipart([.json("metadata", asset), .file("file", file)])
    }
}

/// Downloads an asset into a folder, and resumes what was interrupted.
final class DownloadAsset: HubRequest, FileOutput {
    let repo: RepositoryName
    let asset: Asset
    let folder: URL

    init(_ asset: Asset, repo: RepositoryName, to folder: URL) {
        self.asset = asset
        self.repo = repo
        self.folder = folder
    }

    override var url: EndpointURL { "repos/\(repo.owner)/\(repo.name)/assets/\(asset.id)" }
    override var headers: HTTPFields { [.accept: "application/octet-stream"] }
    var download: DownloadPlan {
        .to(folder.appendingPathComponent(asset.name)) {
            $0.sha256 = asset.sha256
        }
    }
    override var retryPolicy: RetryPolicy? {
        RetryPolicy(maximumAttempts: 2, baseDelay: .milliseconds(50))
    }
}
