/// Media types by file name extension; a fixed table, because Linux has no system service for this.
package enum MIMEType {
    /// The media type for the name's extension; `application/octet-stream` if it is unknown.
    package static func ofFile(named name: String) -> String {
        guard let dot = name.lastIndex(ofByte: "."), dot != name.startIndex else { return unknown }
        return types[name[name.utf8.index(after: dot)...].lowercasedASCII()] ?? unknown
    }

    private static let unknown = "application/octet-stream"

    private static let types: [String: String] = [
        // Text
        "txt": "text/plain", "text": "text/plain", "log": "text/plain", "csv": "text/csv",
        "tsv": "text/tab-separated-values", "html": "text/html", "htm": "text/html",
        "css": "text/css", "md": "text/markdown", "markdown": "text/markdown",
        "ics": "text/calendar", "vcf": "text/vcard", "js": "text/javascript",
        "mjs": "text/javascript", "rtf": "application/rtf", "yaml": "application/yaml",
        "yml": "application/yaml",
        // Data
        "json": "application/json", "geojson": "application/geo+json",
        "jsonld": "application/ld+json", "xml": "application/xml",
        "plist": "application/x-plist", "pdf": "application/pdf", "wasm": "application/wasm",
        "sqlite": "application/vnd.sqlite3", "db": "application/vnd.sqlite3",
        "protobuf": "application/protobuf", "cbor": "application/cbor",
        "pem": "application/x-pem-file",
        "p12": "application/x-pkcs12", "pfx": "application/x-pkcs12",
        "cer": "application/pkix-cert",
        "crt": "application/x-x509-ca-cert", "p7m": "application/pkcs7-mime",
        "gpx": "application/gpx+xml", "kml": "application/vnd.google-earth.kml+xml",
        "atom": "application/atom+xml", "rss": "application/rss+xml",
        "xhtml": "application/xhtml+xml",
        // Archives
        "zip": "application/zip", "gz": "application/gzip", "tgz": "application/gzip",
        "tar": "application/x-tar", "bz2": "application/x-bzip2", "xz": "application/x-xz",
        "7z": "application/x-7z-compressed", "rar": "application/vnd.rar",
        "zst": "application/zstd",
        "br": "application/x-brotli", "jar": "application/java-archive",
        "apk": "application/vnd.android.package-archive", "ipa": "application/octet-stream",
        "deb": "application/vnd.debian.binary-package", "iso": "application/x-iso9660-image",
        // Images
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "avif": "image/avif", "heic": "image/heic", "heif": "image/heif",
        "svg": "image/svg+xml", "bmp": "image/bmp", "ico": "image/vnd.microsoft.icon",
        "tif": "image/tiff", "tiff": "image/tiff", "jxl": "image/jxl",
        "psd": "image/vnd.adobe.photoshop",
        "dng": "image/x-adobe-dng",
        // Audio
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "wav": "audio/wav",
        "flac": "audio/flac", "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg",
        "weba": "audio/webm", "mid": "audio/midi", "midi": "audio/midi", "aif": "audio/aiff",
        "aiff": "audio/aiff", "caf": "audio/x-caf", "amr": "audio/amr",
        // Video
        "mp4": "video/mp4", "m4v": "video/x-m4v", "mov": "video/quicktime", "webm": "video/webm",
        "mkv": "video/matroska", "avi": "video/x-msvideo", "mpg": "video/mpeg",
        "mpeg": "video/mpeg",
        "ogv": "video/ogg", "ts": "video/mp2t", "3gp": "video/3gpp", "wmv": "video/x-ms-wmv",
        "m3u8": "application/vnd.apple.mpegurl", "mpd": "application/dash+xml",
        // Fonts
        "ttf": "font/ttf", "otf": "font/otf", "woff": "font/woff", "woff2": "font/woff2",
        // Office
        "doc": "application/msword", "xls": "application/vnd.ms-excel",
        "ppt": "application/vnd.ms-powerpoint",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text",
        "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odp": "application/vnd.oasis.opendocument.presentation", "epub": "application/epub+zip",
        "pages": "application/vnd.apple.pages", "numbers": "application/vnd.apple.numbers",
        "key": "application/vnd.apple.keynote",
        // Models and mail
        "usdz": "model/vnd.usdz+zip", "gltf": "model/gltf+json", "glb": "model/gltf-binary",
        "stl": "model/stl", "eml": "message/rfc822",
    ]
}
