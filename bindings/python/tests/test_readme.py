"""What README.md shows runs, one block after the other."""

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")


def test_the_readme_runs() -> None:
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 5
    exec(compile("\n".join(blocks), "README.md", "exec"), {})
