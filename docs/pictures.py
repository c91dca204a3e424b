"""Write the picture of a report that README and the first page show: `python docs/pictures.py`.

It fits a model to half of the embedded digits, writes the report of the other half, and photographs
scores and class tree of the page in Chromium (Playwright, of the extra `test`; Pillow, of `plot`).
"""

import shutil
import tempfile
from pathlib import Path

from PIL import Image
from sklearn.linear_model import LogisticRegression

import palmette as pm

PICTURE = Path(__file__).parent / "_static" / "report.png"
LEFT_OUT = (
    "#figures > :nth-child(n + 4), .card:nth-child(n + 4), section:not(#figures, #tree, #errors)"
)


def write_report(page: Path) -> None:
    """Fit one classifier per parent to half of the digits and report on the other half."""
    digits = pm.datasets.load_digits_hierarchy()
    X, y = digits.X / 16, digits.y
    model = pm.LocalPerParentClassifier(LogisticRegression(), hierarchy=digits.hierarchy)
    pm.report(model.fit(X[::2], y[::2]), X[1::2], y[1::2], title="Digits by shape").write(page)


def photograph(page: Path, picture: Path) -> None:
    """Save the verdict, the scores and the class tree of a report as PNG."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1120, "height": 1000})
        tab.goto(page.as_uri())
        tab.wait_for_selector("#tree")
        tab.evaluate(f"document.querySelectorAll('{LEFT_OUT}').forEach((each) => each.remove())")
        tab.locator("#tree").get_by_text("9", exact=True).first.click()
        tab.mouse.move(1100, 5)
        tab.screenshot(path=picture)
        browser.close()
    Image.open(picture).convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(
        picture, optimize=True
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.html")
        write_report(report)
        photograph(report, PICTURE)
