import ErrandHTTP
import Testing

@Suite struct MIMETypeTests {
    @Test(arguments: [
        ("a.PNG", "image/png"), ("a.tar.gz", "application/gzip"), ("a", "application/octet-stream"),
        (".png", "application/octet-stream"), ("a.unheard-of", "application/octet-stream"),
        ("ü.jpeg", "image/jpeg"), ("a.", "application/octet-stream"),
        ("", "application/octet-stream"),
    ])
    func contentTypesByFileExtension(name: String, type: String) {
        #expect(MIMEType.ofFile(named: name) == type)
    }
}
