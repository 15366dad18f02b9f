"""The picture of the service's page in README: ``python docs/picture.py`` writes `docs/page.png`.

Needs the extra [serve], `pip install playwright`, and chromium on the PATH. It loads one of the page's samples and
shows what the default says of the sentence that is wrong.
"""

from __future__ import annotations

import shutil
import socket
import threading
import time
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

from intrinsics_core.service.app import create_app

SAMPLE = "A wrong number"
PICTURE = Path(__file__).with_name("page.png")
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def main() -> None:
    app = create_app({"default": None})
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.1)
            take(f"http://127.0.0.1:{bound.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join()


def take(url: str) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=QUIET)
        page = browser.new_page(viewport={"width": 1180, "height": 820})
        page.goto(url)
        page.get_by_role("button", name=SAMPLE).click()
        page.locator('#results[aria-busy="false"]').wait_for()
        page.screenshot(path=str(PICTURE))
        browser.close()


if __name__ == "__main__":
    main()
