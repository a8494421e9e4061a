// Generated from Page/index.html by Scripts/inspector-page; do not edit.

extension PageSource {
    static let index = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <title>Errand Inspector</title>
        <!-- style -->
        </head>
        <body>
        <!-- script -->
        </body>
        </html>

        """#
}
