// swift-tools-version: 6.2
// A benchmark of the store on Redis. A separate package, so that users of Errand do not resolve its
// dependencies.
import PackageDescription

let package = Package(
    name: "RedisBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "errand", path: "../..", traits: [.defaults, "Redis"])],
    targets: [
        .systemLibrary(name: "CHiredisPlain"),
        .executableTarget(
            name: "RedisBench",
            dependencies: [
                "CHiredisPlain",
                .product(name: "ErrandCore", package: "errand"),
                .product(name: "ErrandRedis", package: "errand"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
