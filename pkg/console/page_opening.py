"""Open a page in the system's browser for a command that continues to serve it."""

from __future__ import annotations

import threading

from pkg.console.progress import say


def open_page(address: str) -> None:
    """Open an address in a background thread, because some browsers return only when they are closed."""
    import webbrowser

    def open_it() -> None:
        if not webbrowser.open(address):
            say("no browser was found on this machine; open the address yourself")

    threading.Thread(target=open_it, daemon=True).start()
