"""Headless Chromium from Debian, controlled by the DevTools protocol."""
import asyncio
import base64
import ctypes
import itertools
import json
import os
import pathlib
import signal
import tempfile

import aiohttp

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--mute-audio",
    "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
    "--autoplay-policy=no-user-gesture-required", "--remote-debugging-port=0",
    "--window-size=1100,900",
]


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Browser:
    """One Chromium with one page. Use it with `async with`."""

    def __init__(self, *flags, bus="disabled:"):
        self.flags = flags
        self.bus = bus

    async def __aenter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self.process = await asyncio.create_subprocess_exec(
            "chromium", *FLAGS, *self.flags, f"--user-data-dir={self.folder.name}", "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
            preexec_fn=end_with_parent,
            env={**os.environ, "HOME": self.folder.name, "DBUS_SESSION_BUS_ADDRESS": self.bus})
        self.session = aiohttp.ClientSession()
        port = await self._port()
        async with self.session.get(f"http://127.0.0.1:{port}/json/list") as response:
            pages = [page for page in await response.json() if page["type"] == "page"]
        self.socket = await self.session.ws_connect(
            pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
        self.numbers = itertools.count(1)
        self.answers = {}
        self.events = {}
        self.reader = asyncio.ensure_future(self._read())
        await self.call("Page.enable")
        return self

    async def __aexit__(self, *_):
        self.reader.cancel()
        await self.session.close()
        has_ended = self.process.returncode is not None
        if not has_ended:
            self.process.kill()
        await self.process.wait()
        self.folder.cleanup()

    async def _port(self):
        place = pathlib.Path(self.folder.name, "DevToolsActivePort")
        while not place.exists() or "\n" not in place.read_text():
            if self.process.returncode is not None:
                raise RuntimeError(f"chromium ended with {self.process.returncode}")
            await asyncio.sleep(0.05)
        return int(place.read_text().split("\n")[0])

    async def _read(self):
        async for message in self.socket:
            body = json.loads(message.data)
            if "id" in body:
                self.answers.pop(body["id"]).set_result(body)
            elif body["method"] in self.events:
                self.events[body["method"]](body["params"])

    async def call(self, method, **params):
        number = next(self.numbers)
        self.answers[number] = asyncio.get_running_loop().create_future()
        answer = self.answers[number]
        await self.socket.send_json({"id": number, "method": method, "params": params})
        body = await answer
        if "error" in body:
            raise RuntimeError(f"{method}: {body['error']}")
        return body["result"]

    async def open(self, address):
        loaded = asyncio.Event()
        self.events["Page.loadEventFired"] = lambda _: loaded.set()
        result = await self.call("Page.navigate", url=address)
        # Each network that another test makes or removes ends what the browser fetches meanwhile.
        while result.get("errorText") == "net::ERR_NETWORK_CHANGED":
            result = await self.call("Page.navigate", url=address)
        if "errorText" in result:
            raise RuntimeError(f"{address}: {result['errorText']}")
        await loaded.wait()

    async def evaluate(self, expression):
        """The value of an expression, awaited if it is a promise; evaluated as if a user clicked."""
        result = await self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True,
            userGesture=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", details).get("description", details))
        return result["result"].get("value")

    async def press(self, key):
        """Presses a key of the page's keyboard, such as Tab, Space or ArrowLeft."""
        number = {"Tab": 9, "Enter": 13, "Space": 32, "ArrowLeft": 37}[key]
        text = {"text": " "} if key == "Space" else {"text": "\r"} if key == "Enter" else {}
        fields = {"key": " " if key == "Space" else key, "code": key,
                  "windowsVirtualKeyCode": number}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **fields, **text)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    async def screenshot(self, path):
        shot = await self.call("Page.captureScreenshot", format="png")
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))


# Observations of a page's first video: its size, a sum of its pixels, and the loudest sample of its
# sound. The analyser is created once, when there is sound.
SEEN = """(() => {
  const video = document.querySelector("video");
  const seen = { width: video.videoWidth, height: video.videoHeight, pixels: 0, level: 0 };
  if (video.videoWidth) {
    const canvas = document.createElement("canvas");
    canvas.width = 64; canvas.height = 36;
    const context = canvas.getContext("2d");
    context.drawImage(video, 0, 0, 64, 36);
    for (const byte of context.getImageData(0, 0, 64, 36).data)
      seen.pixels = (seen.pixels * 31 + byte) % 1000000007;
  }
  const sound = video.srcObject?.getAudioTracks()[0];
  if (sound) {
    if (window.heardTrack !== sound) {
      const context = new AudioContext();
      window.analyser = context.createAnalyser();
      context.createMediaStreamSource(new MediaStream([sound])).connect(window.analyser);
      window.heardTrack = sound;
    }
    const samples = new Float32Array(window.analyser.fftSize);
    window.analyser.getFloatTimeDomainData(samples);
    seen.level = Math.max(...samples);
  }
  return seen;
})()"""
