"""Opens a page in a browser and writes its state as a line of JSON a few times a second.

  watch_page.py ADDRESS [PICTURE | without=CODEC] [browser=firefox] [window] [orders=FIFO]
                [untrusted]

The first line is `chromium PID`, or `firefox PID`. SIGUSR1 makes it write a screenshot to the file
PICTURE. With `without`, Chromium does not offer that video codec; with `untrusted`, it accepts any
certificate. Each line of FIFO is `press KEY`, or `click SELECTOR` (Firefox with `window`, which
shows one on $DISPLAY), or an expression that the page evaluates: then the answer is a line
`= VALUE` in JSON.
"""
import asyncio
import json
import signal
import sys

import chromium
import firefox
from chromium import SEEN

# The texts of the live page's first card besides its video.
WORDS = """Object.fromEntries(
  ["state", "advice", "application", "fps", "bitrate", "latency", "latency-parts", "drops"].map(
    (id) => [id, document.querySelector(`[data-part="${id}"]`)?.textContent ?? ""]))"""

# A browser that is built without a codec.
WITHOUT = """{
  const real = RTCPeerConnection.prototype.addTransceiver;
  RTCPeerConnection.prototype.addTransceiver = function (kind, options) {
    const made = real.call(this, kind, options);
    if (kind === "video") {
      made.setCodecPreferences(RTCRtpReceiver.getCapabilities("video").codecs.filter(
        (codec) => codec.mimeType !== "video/CODEC"));
    }
    return made;
  };
}"""

# Each card: its texts, and the size and the mean colour of its picture.
CARDS = """[...document.querySelectorAll(".card")].map((card) => {
  const video = card.querySelector("video");
  const seen = { width: video.videoWidth, color: [0, 0, 0] };
  for (const id of ["title", "state", "advice"])
    seen[id] = card.querySelector(`[data-part="${id}"]`).textContent;
  if (video.videoWidth) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const context = canvas.getContext("2d");
    context.drawImage(video, 0, 0, 1, 1);
    seen.color = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }
  return seen;
})"""


def say(*words):
    print(*words, flush=True)


async def picture(browser):
    await browser.screenshot(sys.argv[2])
    say("picture")


async def watch(browser):
    while True:
        try:
            seen = await browser.evaluate(SEEN)
            words = await browser.evaluate(WORDS)
            cards = await browser.evaluate(CARDS)
            say(json.dumps(seen | words | {"cards": cards}, ensure_ascii=False))
        except RuntimeError as error:  # The page is being loaded again.
            print(error, file=sys.stderr, flush=True)
        await asyncio.sleep(0.2)


async def follow(browser, path):
    """Follows the orders of a FIFO, one after another."""
    # Open for writing as well, so that it never ends.
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), open(path, "r+b", buffering=0))
    while line := (await reader.readline()).decode().strip():
        try:
            word, _, rest = line.partition(" ")
            if word in ("press", "click"):
                value = await getattr(browser, word)(rest)
            else:
                value = await browser.evaluate(line)
            say("=", json.dumps(value, ensure_ascii=False))
        except RuntimeError as error:
            say("=", json.dumps(f"error: {error}"))


async def main():
    name = "firefox" if "browser=firefox" in sys.argv else "chromium"
    flags = ["--ignore-certificate-errors"] if "untrusted" in sys.argv else []
    options = {"windowed": True} if "window" in sys.argv else {}
    module = {"firefox": firefox, "chromium": chromium}[name]
    async with module.Browser(*flags, **options) as browser:
        say(name, browser.process.pid)
        for codec in [word[8:] for word in sys.argv[2:] if word.startswith("without=")]:
            await browser.call(
                "Page.addScriptToEvaluateOnNewDocument", source=WITHOUT.replace("CODEC", codec))
        await browser.open(sys.argv[1])
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(
            signal.SIGUSR1, lambda: asyncio.ensure_future(picture(browser)))
        loop.add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
        orders = [word[7:] for word in sys.argv[2:] if word.startswith("orders=")]
        await asyncio.gather(watch(browser), *(follow(browser, path) for path in orders))


try:
    asyncio.run(main())
except asyncio.CancelledError:
    pass
