// swift-tools-version: 6.2
// Benchmarks of the store on SQLite. A separate package, so that users of Errand do not build them.
import PackageDescription

let package = Package(
    name: "StoreBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "errand", path: "../..")],
    targets: [
        .target(name: "PlainSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "StoreBench",
            dependencies: [
                "PlainSQLite",
                .product(name: "ErrandCore", package: "errand"),
                .product(name: "ErrandSQLite", package: "errand"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
