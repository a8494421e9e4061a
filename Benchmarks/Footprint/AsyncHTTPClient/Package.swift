// swift-tools-version: 6.2
import PackageDescription

// The same GET with AsyncHTTPClient, for Benchmarks/footprint.
let package = Package(
    name: "AsyncHTTPClientFootprint",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.24.0")
    ],
    targets: [
        .executableTarget(
            name: "GetWithAsyncHTTPClient",
            dependencies: [.product(name: "AsyncHTTPClient", package: "async-http-client")])
    ],
    swiftLanguageModes: [.v6]
)
