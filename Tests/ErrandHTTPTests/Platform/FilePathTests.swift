import ErrandHTTP
import Testing

@Suite struct FilePathTests {
    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/a/b/", "/a", "b"), ("/a//b//", "/a", "b"), ("/a", "/", "a"),
        ("/", "/", ""), ("a", ".", "a"), ("a/b", "a", "b"), ("", ".", ""),
        ("/ä/é.part", "/ä", "é.part"),
    ])
    func foldersAndNames(path: String, folder: String, name: String) {
        #expect(FilePath.folder(of: path) == folder)
        #expect(FilePath.name(of: path) == name)
    }

    @Test func joins() {
        #expect(FilePath.path("/a", "b") == "/a/b")
        #expect(FilePath.path("/", "b") == "/b")
    }
}
