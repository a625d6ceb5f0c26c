"""Drive a headless Chromium by its own protocol over a pair of pipes; no driver or package is needed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60  # seconds for one thing on a page
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # requests to other hosts fail
    "--remote-debugging-pipe",
)  # fmt: skip

# Chromium reads commands from descriptor 3 and answers on descriptor 4; copies above these cannot be overwritten first.
TAKE_PIPES = """import fcntl, os, sys
orders, answers = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3])
os.dup2(orders, 3), os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])"""

_KEYS = {
    "Enter": ("Enter", 13, "\r"), "Tab": ("Tab", 9, ""), "Escape": ("Escape", 27, ""), "End": ("End", 35, ""),
    "Home": ("Home", 36, ""), "ArrowLeft": ("ArrowLeft", 37, ""), "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""), "ArrowDown": ("ArrowDown", 40, ""), " ": ("Space", 32, " "),
}  # fmt: skip
"""Non-character keys: the code, the number and the text of each."""
_CONTROL = 2  # the bit of the key in the modifiers of an event


class Page:
    """One page: navigate, run scripts, take pictures."""

    def __init__(self, orders: BinaryIO, answers: BufferedReader, width: int, height: int) -> None:
        self._orders, self._answers = orders, answers
        self._buffer, self._number, self._session = b"", 0, ""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)

    def open(self, address: str) -> None:
        """Navigate to an address."""
        self._call("Page.navigate", url=address)

    def run(self, script: str) -> Any:
        """Evaluate a script on the page and return its value; a script error is raised."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{answer['exceptionDetails']['exception']['description']} in the script: {script}")
        return answer["result"].get("value")

    def await_true(self, script: str) -> None:
        """Wait until a script returns a true value."""
        deadline = time.monotonic() + PATIENCE
        while not self._holds(script):
            if time.monotonic() > deadline:
                shown = self.run("document.body.innerText")
                raise TimeoutError(f"not true within {PATIENCE} seconds: {script}; the page shows:\n{shown}")
            time.sleep(0.2)

    def _holds(self, script: str) -> bool:
        try:
            return self.run(f"Boolean({script})") is True
        except RuntimeError:  # the page is still loading
            return False

    def click(self, selector: str) -> None:
        """Click the first match of a selector, once it exists."""
        self.await_true(f"document.querySelector({json.dumps(selector)})")
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def point(self, selector: str, at: float = 0.5) -> None:
        """Press the left mouse button on the first match of a selector, at a fraction of its width."""
        self.await_true(f"document.querySelector({json.dumps(selector)})?.checkVisibility()")
        x, y = self.run(
            f"""(() => {{
                const place = document.querySelector({json.dumps(selector)});
                place.scrollIntoView({{block: 'center', behavior: 'instant'}});
                const box = place.getBoundingClientRect();
                return [box.left + box.width * {at}, box.top + box.height / 2];
            }})()"""
        )
        for kind, buttons in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)):
            button = "none" if kind == "mouseMoved" else "left"
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, clickCount=1)

    def press(self, key: str, control: bool = False) -> None:
        """Press and release a key, such as 7, n, Enter or ArrowLeft, in the focused element."""
        code, number, text = _KEYS.get(key, ("", ord(key.upper()[0]), key))
        pressed = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": _CONTROL * control}
        self._call("Input.dispatchKeyEvent", type="keyDown", text="" if control else text, **pressed)
        self._call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def type(self, text: str) -> None:
        """Type a text into the focused element."""
        self._call("Input.insertText", text=text)

    def reload(self) -> None:
        """Reload the page."""
        self._call("Page.reload")

    def fill(self, selector: str, text: str) -> None:
        """Replace the value of the first field that matches a selector."""
        self.await_true(f"document.querySelector({json.dumps(selector)})")
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        self._call("Input.insertText", text=text)

    def paste(self, selector: str, text: str) -> None:
        """Paste a text into the first match of a selector, once it exists."""
        self.await_true(f"document.querySelector({json.dumps(selector)})")
        self.run(
            f"""(() => {{
                const clipboardData = new DataTransfer();
                clipboardData.setData('text/plain', {json.dumps(text)});
                const place = document.querySelector({json.dumps(selector)});
                place.focus();
                place.dispatchEvent(new ClipboardEvent('paste', {{bubbles: true, cancelable: true, clipboardData}}));
            }})()"""
        )

    def drop(self, file: Path) -> None:
        """Drop a file onto the page."""
        content = base64.b64encode(file.read_bytes()).decode()
        self.run(
            f"""(() => {{
                const bytes = Uint8Array.from(atob({json.dumps(content)}), (each) => each.charCodeAt(0));
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(new File([bytes], {json.dumps(file.name)}));
                const place = document.querySelector('[data-testid="main"]') || document.body;
                for (const kind of ['dragenter', 'dragover', 'drop'])
                    place.dispatchEvent(new DragEvent(kind, {{bubbles: true, cancelable: true, dataTransfer}}));
            }})()"""
        )

    def prefer_scheme(self, scheme: str) -> None:
        """Emulate the colour scheme preference light or dark."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def save_picture(self, path: Path) -> None:
        """Save a screenshot in the format of the file name's suffix: .png or .webp."""
        kind = path.suffix.removeprefix(".")
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", format=kind)["data"]))

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        order = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            order["sessionId"] = self._session
        self._orders.write(json.dumps(order).encode() + b"\0")
        self._orders.flush()
        while (answer := self._read()).get("id") != self._number:
            pass  # an event that no caller waits for
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = self._answers.read1(1 << 16)
            if not piece:
                raise RuntimeError("Chromium ended, expected it to answer; does it start by hand?")
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


def find_chromium() -> str:
    """Return the path of the program, or raise with an install hint."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        sys.exit(f"no Chromium found (looked for {', '.join(PROGRAMS)}); run: apt install chromium")
    return found


@contextmanager
def start_page(width: int, height: int) -> Iterator[Page]:
    """Start a Chromium with an empty profile and yield its page; both are removed afterwards."""
    program = find_chromium()
    with TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as folder:
        theirs, orders = os.pipe()
        answers, their_answers = os.pipe()
        ends = [str(theirs), str(their_answers)]
        start = [sys.executable, "-I", "-S", "-c", TAKE_PIPES, *ends, program, *FLAGS, f"--user-data-dir={folder}"]
        process = subprocess.Popen(
            start, pass_fds=(theirs, their_answers), stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
        )
        os.close(theirs)
        os.close(their_answers)
        try:
            with os.fdopen(orders, "wb") as told, os.fdopen(answers, "rb") as heard:
                yield Page(told, heard, width, height)
        finally:
            process.terminate()
            process.wait()
