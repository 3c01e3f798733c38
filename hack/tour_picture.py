"""Write the opening of the informer tour as an animated SVG file. `hack/tour-picture` runs this.

The page's own module makes the file, in Chromium: clientgo/tour/page/opening.js. An SVG file with CSS animations is
sharper and a hundred times smaller than a GIF. It follows the reader's colour scheme and shows a still picture to
readers who want no motion.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "cmd" / "informer-tour"))

_SCRIPT = """
const [language, done] = arguments;
import("/page/opening.js").then((opening) => done(opening.standalone(language)), (error) => done(`failed: ${error}`));
"""


def draw(language: str) -> str:
    """Return the picture. Blocks for some seconds; raises RuntimeError when the browser cannot draw it."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    import pageserver  # type: ignore[import-not-found]

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    with pageserver.PageServer() as server:
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            driver.set_script_timeout(60)
            driver.get(f"{server.url}#queue")
            picture = str(driver.execute_async_script(_SCRIPT, language))
        finally:
            driver.quit()
    if not picture.startswith("<svg"):
        raise RuntimeError(picture)
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(prog="hack/tour-picture", description="Write the README's animated picture.")
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "cmd" / "informer-tour" / "opening.svg")
    parser.add_argument("--language", choices=["en", "zh"], default="en")
    flags = parser.parse_args()
    size = flags.file.write_text(draw(flags.language), encoding="utf-8")
    print(f"{flags.file}: {size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
