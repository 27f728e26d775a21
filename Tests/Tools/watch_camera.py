"""Opens the camera in a browser, as a meeting does, and writes what it sees as lines of JSON: the size
and the luma of the picture's middle.

  watch_camera.py chromium | firefox

The browser reaches PipeWire's cameras through the desktop's portal, by the environment. The page asks
for the camera until there is one.
"""
import asyncio
import json
import os
import sys

from aiohttp import web

import chromium
import firefox

PAGE = """<!doctype html><video autoplay muted playsinline></video><script>
  const video = document.querySelector("video");
  const ask = async () => {
    try {
      video.srcObject = await navigator.mediaDevices.getUserMedia({ video: true });
      window.label = video.srcObject.getVideoTracks()[0].label;
    } catch (error) {
      window.problem = `${error}`;
      setTimeout(ask, 500);
    }
  };
  ask();
</script>"""

SEEN = """(() => {
  const seen = { width: video.videoWidth, height: video.videoHeight, luma: -1,
                 label: window.label ?? "", problem: window.problem ?? "" };
  if (video.videoWidth) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const context = canvas.getContext("2d");
    context.drawImage(video, 0, 0, 1, 1);
    seen.luma = context.getImageData(0, 0, 1, 1).data[1];
  }
  return seen;
})()"""


def browser(name):
    bus = os.environ["DBUS_SESSION_BUS_ADDRESS"]
    if name == "firefox":
        return firefox.Browser(bus=bus, preferences={
            "media.navigator.permission.disabled": True,
            "media.webrtc.camera.allow-pipewire": True})
    return chromium.Browser(
        "--use-fake-ui-for-media-stream", "--enable-features=WebRtcPipeWireCamera", bus=bus)


async def main():
    # A page has a camera only from a server that is this machine, or is encrypted.
    application = web.Application()
    application.router.add_get(
        "/", lambda request: web.Response(text=PAGE, content_type="text/html"))
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    async with browser(sys.argv[1]) as page:
        await page.open(f"http://127.0.0.1:{port}/")
        while True:
            print(json.dumps(await page.evaluate(SEEN)), flush=True)
            await asyncio.sleep(0.05)


asyncio.run(main())
