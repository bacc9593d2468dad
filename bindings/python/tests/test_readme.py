"""What README.md shows runs and has types, one block after the other: that of the package, and that of the crate."""

import re
from pathlib import Path

import matplotlib
import mypy.api
import pytest

matplotlib.use("Agg")

PACKAGE = Path(__file__).parent.parent


@pytest.mark.parametrize(("folder", "least"), [(PACKAGE, 5), (PACKAGE.parent.parent, 1)])
def test_the_readme_runs(folder: Path, least: int, tmp_path: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= least
    program = tmp_path / "readme.py"
    program.write_text("\n".join(blocks), encoding="utf-8")
    exec(compile(program.read_text(encoding="utf-8"), "README.md", "exec"), {})
    # JAX has functions without types.
    report, errors, status = mypy.api.run(
        ["--config-file", str(PACKAGE / "pyproject.toml"), "--strict", "--allow-untyped-calls", str(program)]
    )
    assert status == 0, report + errors
