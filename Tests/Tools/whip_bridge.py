"""A WHIP endpoint whose WebRTC is Chromium's: each offer is answered by a page.

  whip_bridge.py [PORT]

The first line is `listening PORT`. Then follow one line per request (`POST 201`), and a few times a
second a line of JSON with the page's observations (chromium.SEEN) and its `state`.
"""
import asyncio
import json
import sys

from aiohttp import web
from chromium import SEEN, Browser

ANSWER = """(async (offer) => {
  const video = document.body.appendChild(document.createElement("video"));
  video.muted = video.autoplay = true;
  window.peer = new RTCPeerConnection();
  await peer.setRemoteDescription({ type: "offer", sdp: offer });
  await peer.setLocalDescription();
  video.srcObject = new MediaStream(peer.getReceivers().map((receiver) => receiver.track));
  while (peer.iceGatheringState !== "complete")
    await new Promise((resolve) => peer.addEventListener("icegatheringstatechange", resolve));
  return peer.localDescription.sdp;
})"""


def say(*words):
    print(*words, flush=True)


class Bridge:
    def __init__(self, browser):
        self.browser = browser

    def answer(self, request, status, **rest):
        say(request.method, status)
        return web.Response(status=status, **rest)

    async def post(self, request):
        offer = await request.text()
        answer = await self.browser.evaluate(f"{ANSWER}({json.dumps(offer)})")
        return self.answer(
            request, 201, text=answer, content_type="application/sdp",
            headers={"Location": "/session", "ETag": '"session"'})

    async def patch(self, request):
        mid = ""
        for line in (await request.text()).splitlines():
            if line.startswith("a=mid:"):
                mid = line[6:]
            elif line.startswith("a=candidate:"):
                candidate = json.dumps({"candidate": line[2:], "sdpMid": mid})
                await self.browser.evaluate(f"peer.addIceCandidate({candidate})")
        return self.answer(request, 204)

    async def delete(self, request):
        await self.browser.evaluate("peer.close()")
        return self.answer(request, 200)


async def main():
    async with Browser() as browser:
        bridge = Bridge(browser)
        application = web.Application()
        application.router.add_post("/whip", bridge.post)
        application.router.add_patch("/session", bridge.patch)
        application.router.add_delete("/session", bridge.delete)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0)
        await site.start()
        say("listening", site._server.sockets[0].getsockname()[1])
        while True:
            if await browser.evaluate("document.querySelector('video')?.srcObject != null"):
                seen = await browser.evaluate(SEEN)
                state = await browser.evaluate("peer.connectionState")
                say(json.dumps(seen | {"state": state, "advice": ""}))
            await asyncio.sleep(0.2)


asyncio.run(main())
