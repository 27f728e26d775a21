"""Plays DIRECTORY/index.m3u8 in Chromium, from a web server of its own, and writes the player's state
as a line of JSON a few times a second.

  play_hls.py DIRECTORY [HLS.JS]

Chromium plays the playlist itself. With the path of hls.js as an ES module, that does.
"""
import asyncio
import json
import pathlib
import signal
import sys

from aiohttp import web

import chromium

PAGE = """<!doctype html><video muted autoplay playsinline></video>
<script type="module">
const video = document.querySelector("video");
window.errors = [];
video.onerror = () => errors.push(video.error.message || `code ${video.error.code}`);
const start = async () => {
  if (!MODULE) { video.src = "/index.m3u8"; return; }
  const found = await import("/hls.js");
  const Hls = found.default ?? found.Hls ?? found.H;
  const player = new Hls();
  player.on(Hls.Events.ERROR, (_, data) => { if (data.fatal) errors.push(data.details); });
  player.on(Hls.Events.FRAG_CHANGED, (_, data) => { window.fragment = data.frag.sn; });
  player.loadSource("/index.m3u8");
  player.attachMedia(video);
};
start();
</script>"""

STATE = """(() => {
  const video = document.querySelector("video");
  return { time: video.currentTime, width: video.videoWidth, height: video.videoHeight,
    frames: video.getVideoPlaybackQuality().totalVideoFrames, ended: video.ended,
    sound: video.webkitAudioDecodedByteCount ?? 0,
    fragment: window.fragment ?? -1, errors: window.errors ?? [] };
})()"""


async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    module = sys.argv[2] if len(sys.argv) > 2 else None

    async def page(_):
        text = PAGE.replace("MODULE", "true" if module else "false")
        return web.Response(text=text, content_type="text/html")

    async def playlist(request):
        # Read at once: a static file's size and content may be those of two playlists.
        path = pathlib.Path(sys.argv[1], request.match_info["name"] + ".m3u8")
        return web.Response(
            body=path.read_bytes(), content_type="application/vnd.apple.mpegurl",
            headers={"Cache-Control": "no-store"})

    server = web.Application()
    server.router.add_get("/", page)
    server.router.add_get("/{name:[a-z]+}.m3u8", playlist)
    if module:
        server.router.add_get("/hls.js", lambda _: web.FileResponse(
            module, headers={"Content-Type": "text/javascript"}))
    server.router.add_static("/", sys.argv[1])
    runner = web.AppRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    async with chromium.Browser() as browser:
        await browser.open(f"http://127.0.0.1:{port}/")
        while True:
            print(json.dumps(await browser.evaluate(STATE)), flush=True)
            await asyncio.sleep(0.3)


try:
    asyncio.run(main())
except asyncio.CancelledError:
    pass
