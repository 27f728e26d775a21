"""Firefox from Debian, controlled by WebDriver BiDi: headless, or with a window on $DISPLAY."""
import asyncio
import base64
import itertools
import json
import os
import pathlib
import tempfile

import aiohttp

from chromium import end_with_parent

PREFERENCES = {
    "media.autoplay.default": 0, "media.gmp-manager.updateEnabled": False,
    "datareporting.policy.dataSubmissionEnabled": False, "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
# With a window, the focus is real: without it, a page cannot use the full screen.
WINDOWED = {"remote.prefs.recommended": False, "focusmanager.testmode": False}


class Browser:
    """One Firefox with one page, used as the one of chromium.py."""

    def __init__(self, *flags, windowed=False, bus="disabled:", preferences=None):
        self.flags = flags if windowed else ("--headless", *flags)
        self.preferences = PREFERENCES | (WINDOWED if windowed else {}) | (preferences or {})
        self.bus = bus

    async def __aenter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True)
        profile = pathlib.Path(self.folder.name, "profile")
        profile.mkdir()
        lines = (
            f'user_pref("{name}", {str(value).lower()});\n'
            for name, value in self.preferences.items())
        profile.joinpath("user.js").write_text("".join(lines))
        self.process = await asyncio.create_subprocess_exec(
            "firefox-esr", "--no-remote", "--profile", str(profile),
            "--remote-debugging-port=0", *self.flags, "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
            preexec_fn=end_with_parent,
            env={**os.environ, "HOME": self.folder.name, "DBUS_SESSION_BUS_ADDRESS": self.bus})
        address = await self._address()
        self.drain = asyncio.ensure_future(self.process.stderr.read())
        self.session = aiohttp.ClientSession()
        self.socket = await self.session.ws_connect(address + "/session", max_msg_size=0)
        self.numbers = itertools.count(1)
        self.answers = {}
        self.reader = asyncio.ensure_future(self._read())
        await self.call("session.new", capabilities={})
        tree = await self.call("browsingContext.getTree")
        self.context = tree["contexts"][0]["context"]
        return self

    async def __aexit__(self, *_):
        self.reader.cancel()
        self.drain.cancel()
        await self.session.close()
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        self.folder.cleanup()

    async def _address(self):
        async for line in self.process.stderr:
            word = line.decode(errors="replace").split()[-1:]
            if word and word[0].startswith("ws://"):
                return word[0]
        raise RuntimeError("firefox names no address")

    async def _read(self):
        async for message in self.socket:
            body = message.json()
            if body.get("id") in self.answers:
                self.answers.pop(body["id"]).set_result(body)

    async def call(self, method, **params):
        number = next(self.numbers)
        answer = self.answers[number] = asyncio.get_running_loop().create_future()
        await self.socket.send_json({"id": number, "method": method, "params": params})
        body = await answer
        if body["type"] == "error":
            raise RuntimeError(f"{method}: {body['message']}")
        return body["result"]

    async def open(self, address):
        await self.call(
            "browsingContext.navigate", context=self.context, url=address, wait="complete")

    async def evaluate(self, expression):
        """The value of an expression, awaited if it is a promise."""
        result = await self.call(
            "script.evaluate", target={"context": self.context}, awaitPromise=True,
            userActivation=True, expression=f"Promise.resolve({expression}).then(JSON.stringify)")
        if result["type"] == "exception":
            raise RuntimeError(result["exceptionDetails"]["text"])
        text = result["result"].get("value")
        return None if text is None else json.loads(text)

    async def press(self, key):
        """Presses a key of the page's keyboard, such as Tab, Space or ArrowLeft."""
        value = {"Tab": "\ue004", "Enter": "\ue007", "Space": " ", "ArrowLeft": "\ue012"}[key]
        await self.call("input.performActions", context=self.context, actions=[{
            "type": "key", "id": "keyboard", "actions": [
                {"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]}])

    async def click(self, selector):
        """Moves the pointer of $DISPLAY to an element and clicks, as a user does."""
        from Xlib import X, display
        from Xlib.ext import xtest
        element = f"document.querySelector({json.dumps(selector)})"
        await self.evaluate(f"{element}.scrollIntoView({{ block: 'center' }})")
        left, top = await self.evaluate(
            "(({ left, top, width, height }) => [mozInnerScreenX + left + width / 2, "
            "mozInnerScreenY + top + height / 2].map((side) => side * devicePixelRatio))"
            f"({element}.getBoundingClientRect())")
        screen = display.Display()
        xtest.fake_input(screen, X.MotionNotify, x=int(left), y=int(top))
        xtest.fake_input(screen, X.ButtonPress, 1)
        xtest.fake_input(screen, X.ButtonRelease, 1)
        screen.sync()
        screen.close()

    async def screenshot(self, path):
        shot = await self.call("browsingContext.captureScreenshot", context=self.context)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))
