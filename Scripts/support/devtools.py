"""A small client of the Chrome DevTools protocol, for Scripts/check-docs, Scripts/peers/har-in-chromium and
Scripts/peers/inspector-in-chromium.

It starts headless Chromium and speaks the protocol over two pipes (--remote-debugging-pipe), so it needs
neither a port nor a WebSocket. https://chromedevtools.github.io/devtools-protocol/
"""
import asyncio
import base64
import fcntl
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile

# The headless shell needs less CPU time: the others keep up an invisible user interface.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Descriptors below this one are free for the child's pipes.
FIRST_FREE_DESCRIPTOR = 16


class DevToolsError(Exception):
    pass


class Browser:
    """One headless Chromium with its own, temporary profile."""

    def __init__(self, size, arguments=()):
        self.size = size
        self.arguments = list(arguments)
        self.numbers = itertools.count(1)
        self.replies = {}
        self.listeners = {}  # by session
        self.process = None

    async def __aenter__(self):
        program = next((p for p in map(shutil.which, NAMES) if p), None)
        if program is None:
            raise DevToolsError("Chromium is missing; Scripts/setup --tests installs it")
        self.profile = tempfile.TemporaryDirectory(prefix="errand-chromium.", ignore_cleanup_errors=True)
        from_us, to_browser = self.pipe()
        from_browser, to_us = self.pipe()

        def connect():
            os.dup2(from_us, 3)
            os.dup2(to_us, 4)

        arguments = [
            program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}",
            f"--window-size={self.size[0]},{self.size[1]}", "--hide-scrollbars", "--mute-audio",
            "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
            "--disable-component-update", "--disable-background-networking", "--disable-sync",
            # Without this flag, history.pushState is throttled to 200 calls in 10 seconds.
            "--disable-ipc-flooding-protection",
            "--disable-default-apps", "--force-color-profile=srgb", "--lang=en-US",
        ]
        # Chromium's sandbox refuses to run as root.
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        self.process = subprocess.Popen(
            arguments + self.arguments + ["about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=connect, pass_fds=(3, 4), start_new_session=True)
        os.close(from_us)
        os.close(to_us)
        loop = asyncio.get_running_loop()
        self.reader = asyncio.StreamReader(limit=2**28)
        await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self.reader), os.fdopen(from_browser, "rb", 0))
        self.writer, _ = await loop.connect_write_pipe(
            asyncio.BaseProtocol, os.fdopen(to_browser, "wb", 0))
        self.receiving = asyncio.create_task(self.receive())
        return self

    async def __aexit__(self, *_):
        self.receiving.cancel()
        self.writer.abort()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.profile.cleanup()

    @staticmethod
    def pipe():
        ends = []
        for end in os.pipe():
            ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_DESCRIPTOR))
            os.close(end)
        return ends

    async def receive(self):
        try:
            while True:
                message = json.loads((await self.reader.readuntil(b"\0"))[:-1])
                if "id" in message:
                    reply = self.replies.pop(message["id"], None)
                    if reply is None or reply.done():
                        continue
                    if "error" in message:
                        reply.set_exception(DevToolsError(message["error"].get("message", "")))
                    else:
                        reply.set_result(message["result"])
                else:
                    listener = self.listeners.get(message.get("sessionId"))
                    if listener:
                        listener(message["method"], message["params"])
        except asyncio.IncompleteReadError:
            for reply in self.replies.values():
                if not reply.done():
                    reply.set_exception(DevToolsError("the browser has ended"))

    async def send(self, method, session=None, **parameters):
        if self.receiving.done():
            raise DevToolsError("the browser has ended")
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self.replies[number] = asyncio.get_running_loop().create_future()
        self.writer.write(json.dumps(message).encode() + b"\0")
        return await self.replies[number]

    async def tab(self, size=None):
        target = await self.send("Target.createTarget", url="about:blank", background=size is not None)
        session = await self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        tab = Tab(self, session["sessionId"])
        if size:
            await tab.resize(*size)
        return tab


class Tab:
    """One page of the browser. `errors` collects console errors, exceptions and failed loads."""

    def __init__(self, browser, session):
        self.browser, self.session, self.errors = browser, session, []
        browser.listeners[session] = self.notice

    async def send(self, method, **parameters):
        return await self.browser.send(method, self.session, **parameters)

    def notice(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(
                "exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
            parts = [str(a.get("value", a.get("description", ""))) for a in parameters["args"]]
            self.errors.append("console: " + " ".join(parts))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            entry = parameters["entry"]
            self.errors.append(f"log: {entry['text']} {entry.get('url', '')}".rstrip())

    async def prepare(self, script):
        """Enables the events and adds a script that runs at the start of each document."""
        for domain in ("Page", "Runtime", "Log"):
            await self.send(f"{domain}.enable")
        await self.send("Page.addScriptToEvaluateOnNewDocument", source=script)

    async def evaluate(self, expression):
        """The value of a JavaScript expression, awaited when it is a promise."""
        result = await self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise DevToolsError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    async def resize(self, width, height):
        await self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                        deviceScaleFactor=1, mobile=False)

    async def photograph(self, width, height):
        """The page as PNG, in a window of this size."""
        await self.resize(width, height)
        picture = await self.send("Page.captureScreenshot", format="png", optimizeForSpeed=True)
        await self.send("Emulation.clearDeviceMetricsOverride")
        return base64.b64decode(picture["data"])
