"""Opens a page in Chromium and writes its state as a line of JSON a few times a second.

  watch_page.py ADDRESS [PICTURE]

The first line is `chromium PID`. SIGUSR1 makes it write a screenshot to the file PICTURE.
"""
import asyncio
import json
import signal
import sys

from chromium import SEEN, Browser

# The texts of the live page besides its video.
WORDS = """Object.fromEntries(["state", "advice", "fps", "bitrate", "latency", "drops"].map(
  (id) => [id, document.getElementById(id)?.textContent ?? ""]))"""


def say(*words):
    print(*words, flush=True)


async def picture(browser):
    await browser.screenshot(sys.argv[2])
    say("picture")


async def watch(browser):
    while True:
        seen = await browser.evaluate(SEEN)
        say(json.dumps(seen | await browser.evaluate(WORDS), ensure_ascii=False))
        await asyncio.sleep(0.2)


async def main():
    async with Browser() as browser:
        say("chromium", browser.process.pid)
        await browser.open(sys.argv[1])
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(
            signal.SIGUSR1, lambda: asyncio.ensure_future(picture(browser)))
        loop.add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
        await watch(browser)


try:
    asyncio.run(main())
except asyncio.CancelledError:
    pass
