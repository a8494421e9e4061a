"""Starts nginx on a free loopback port."""
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
# The folders of temporary files, which nginx would otherwise expect in the folders of the system.
FRAME = """
{user} daemon off; worker_processes 1; worker_rlimit_nofile 4096; pid {folder}/nginx.pid; error_log {folder}/nginx.log warn;
events {{ worker_connections 4096; }}
http {{
    client_body_temp_path {folder}/nginx-body; proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi; uwsgi_temp_path {folder}/nginx-uwsgi; scgi_temp_path {folder}/nginx-scgi;
    {http}
}}
"""


class Failure(Exception):
    """nginx is missing, or has not started."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait(port, limit=30, server=None):
    """Waits until a port of a server that runs accepts connections; returns whether it does."""
    end = time.monotonic() + limit
    while time.monotonic() < end and (server is None or server.poll() is None):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False


def start(folder, http, limit=30):
    """Starts nginx and waits until it accepts connections.

    `folder` gets the configuration, logs and temporary files. `http` is the content of the http block, without
    temporary paths; `{port}` in it is replaced. Returns the process, which the caller ends, and the port.
    """
    program = shutil.which("nginx", path=PATH)
    if program is None:
        raise Failure("nginx is missing; Scripts/setup --tests installs it")
    folder, port = Path(folder).resolve(), free_port()
    # As root, nginx would read the files as another user, who has no access to a temporary folder.
    user = "user root;" if os.getuid() == 0 else ""
    config = folder / "nginx.conf"
    config.write_text(FRAME.format(user=user, folder=folder, http=http.replace("{port}", str(port))))
    server = subprocess.Popen([program, "-p", folder, "-e", folder / "nginx.log", "-c", config], stdin=subprocess.DEVNULL)
    if wait(port, limit, server):
        return server, port
    if server.poll() is None:
        server.terminate()
        server.wait()
    raise Failure("nginx did not start; see " + str(folder / "nginx.log"))
