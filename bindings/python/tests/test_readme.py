"""What README.md shows runs, one block after the other: that of the package, and that of the crate."""

import re
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")

PACKAGE = Path(__file__).parent.parent


@pytest.mark.parametrize(("folder", "least"), [(PACKAGE, 5), (PACKAGE.parent.parent, 1)])
def test_the_readme_runs(folder: Path, least: int) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= least
    exec(compile("\n".join(blocks), "README.md", "exec"), {})
