"""Echoes messages with the PyPI package websockets: echo-client.py COUNT IN_FLIGHT URL SIZE"""
import asyncio
import json
import resource
import sys
import time

from websockets.asyncio.client import connect


async def main(count, in_flight, url, size):
    message = b"x" * size
    start, begin = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    async with connect(url, compression=None, max_size=None, ping_interval=None) as socket:
        sent = min(in_flight, count)
        for _ in range(sent):
            await socket.send(message)
        bad = 0
        for _ in range(count):
            bad += len(await socket.recv()) != size
            if sent < count:
                await socket.send(message)
                sent += 1
    end = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu_s": end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime,
                      "wall_s": time.monotonic() - start, "rss_peak_kb": end.ru_maxrss, "bad": bad}))


count, in_flight, url, size = sys.argv[1:]
asyncio.run(main(int(count), int(in_flight), url, int(size)))
