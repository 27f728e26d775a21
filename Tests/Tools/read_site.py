"""Reads the site that scripts/docs has built, as a server's visitors would:

    read_site.py DIRECTORY [PICTURE.png]

Checks every link between its pages, and every anchor; then opens some pages in Chromium and prints
their titles, a line each. The picture is of the last one.
"""
import asyncio
import functools
import http.server
import json
import pathlib
import sys
import threading
import urllib.parse

from chromium import Browser

PAGES = [
    "/documentation/", "/documentation/guides/tutorials-share-a-camera/",
    "/documentation/guides/design-frame-ring/", "/documentation/framebus/",
    "/documentation/framebus/publisher/", "/documentation/credentialstore/",
]
LIMIT_S = 120


def anchors(value):
    """All anchors of a page, wherever they stand in it."""
    if isinstance(value, dict):
        if isinstance(value.get("anchor"), str):
            yield value["anchor"]
        for part in value.values():
            yield from anchors(part)
    elif isinstance(value, list):
        for part in value:
            yield from anchors(part)


def check_links(site: pathlib.Path) -> int:
    pages = {}
    for path in (site / "data").rglob("*.json"):
        name = "/" + str(path.relative_to(site / "data").with_suffix(""))
        pages[name] = json.loads(path.read_text())
    broken = [
        f"{name} has no index.html" for name in pages
        if name.startswith("/documentation") and not (site / name[1:] / "index.html").is_file()
    ]
    known = {name: set(anchors(page)) for name, page in pages.items()}
    count = 0
    for name, page in pages.items():
        for reference in page.get("references", {}).values():
            address = reference.get("url", "")
            if not address.startswith("/documentation"):
                continue
            count += 1
            target, _, anchor = address.partition("#")
            if target not in pages:
                broken.append(f"{name}: {target} is not there")
            elif anchor and urllib.parse.unquote(anchor) not in known[target]:
                broken.append(f"{name}: {target} has no anchor {anchor}")
    if broken:
        sys.exit("\n".join(broken))
    if count < 1000:
        sys.exit(f"only {count} links are found: the site has another form than this test knows")
    return count


class Quiet(http.server.SimpleHTTPRequestHandler):
    missing = []

    def log_message(self, format, *arguments):
        pass

    def send_error(self, code, *arguments, **named):
        Quiet.missing.append(self.path)
        super().send_error(code, *arguments, **named)


async def visit(address: str, picture: str | None) -> None:
    async with Browser() as browser:
        for page in PAGES:
            await browser.open(address + page)
            title = await asyncio.wait_for(browser.evaluate("""new Promise(done => {
              const look = () => {
                const heading = document.querySelector("#app h1, main h1");
                if (heading && heading.innerText.trim()) done(heading.innerText.trim());
                else requestAnimationFrame(look);
              };
              look();
            })"""), LIMIT_S)
            print(title)
        if picture:
            await browser.screenshot(picture)


def main():
    site = pathlib.Path(sys.argv[1])
    print(check_links(site), "links")
    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asyncio.run(visit(f"http://127.0.0.1:{server.server_port}", *(sys.argv[2:] or [None])))
    if Quiet.missing:
        sys.exit(f"the pages ask for what is not there: {Quiet.missing}")


main()
