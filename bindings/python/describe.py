"""Writes ``docs/elements.md`` and ``python/force_elements/_described.py`` from the documentation of the crate's elements.

Run ``python describe.py`` after that documentation has changed.
"""

import pprint
import re
from pathlib import Path

HERE = Path(__file__).parent
CRATE = HERE.parent.parent
KINDS = {
    "exponential_spring": "ExponentialSpring",
    "elastic_foundation": "ElasticFoundation",
    "coordinate_spring_damper_ext": "CoordinateSpringDamperExt",
    "cable_spring": "CableSpring",
    "linear_bushing": "LinearBushing",
    "spatial_bushing": "SpatialBushing",
    "hertz_contact": "HertzContact",
}
# Where results are declared: beside the file with the parameters, files that several kinds share.
SHARED = {
    "coordinate_spring_damper_ext": ["sides.rs"],
    "cable_spring": ["cable_spring/mod.rs"],
    "elastic_foundation": ["elastic_foundation/results.rs"],
    "linear_bushing": ["bushing/mod.rs", "frames.rs"],
    "spatial_bushing": ["bushing/mod.rs", "frames.rs"],
    "hertz_contact": ["contact_law.rs"],
}
# The first and the last part of the name of a result of several numbers.
PARTS = {
    "Vector2": (".x", ".y"),
    "Vector3": (".x", ".z"),
    "Point3": (".x", ".z"),
    "Vector6": (".qx", ".pz"),
    "Pose": (".R.xx", ".p.z"),
    "SpatialVelocity": (".angular.x", ".linear.z"),
    "SpatialForce": (".torque.x", ".force.z"),
}
PATH = {
    "path.length": ("", "m", "The length of the path."),
    "path.smoothness": ("", "rad", "Its largest kink, or an upper bound."),
    "path.iterations": ("", "1", "The steps of Newton's method, at the obstacle with the most."),
    "path.tracking": (
        "",
        "1",
        "How it was found: 0 from the one before, 1 so in parts of a long step, 2 so but perhaps as another one, 3 without one"
        " before, 4 anew, although there was one.",
    ),
}
# Of every element.
COMMON = {"power_absorbed": ("", "W", "The power that flows into it, from bodies and coordinates and from a drive inside it.")}
# Of the Rust interface only.
LEFT_OUT = ("Linearization", "Errors", "Example")
RANGES = {"positive": "> 0", "squarable": "> 0", "nonnegative": "≥ 0"}
HEAD = """# The laws of the elements

The equations, units and ranges behind `System.add_...`, and the results that `State.result` returns, from the documentation of the Rust crate. Names such as
`Parameters::mu_static` or `mu_static` are parameters, which Python takes as keyword arguments; `for_contact` is
`ContactDesign`; other names with `::` are those of the crate. `accept_step` is `State.accept`, `with_anchors` the keyword
`anchors=True`, `discontinuous_update` and `switching_error` are for implicit hosts in Rust; friction of a cable is given
with its obstacles, and the frames of a bushing as poses.
"""


def plain(text: str) -> str:
    """Documentation without links into the Rust interface."""
    text = re.sub(r"\[([^\]\[]+)\]\((?!http)[^)\s]*\)", r"\1", text)
    text = re.sub(r"\[(`[^`\]]+`)\](?!\()", r"\1", text)
    return text.replace("\\[", "[").replace("\\]", "]")


def documented(source: str, item: str) -> list[str]:
    """The lines of documentation before an item, a pattern; a picture is included by its path."""
    lines = source[: re.search(item, source).start()].splitlines()
    documentation: list[str] = []
    for line in reversed(lines):
        line = line.strip()
        if picture := re.match(r'#\[doc = include_str!\("\.\./\.\./\.\./(docs/sketches/.*)"\)\]', line):
            documentation.append(f"![](../../../{picture[1]})")
        elif line.startswith("///"):
            documentation.append(line[3:].removeprefix(" "))
        elif not line.startswith("#["):
            break
    return documentation[::-1]


def page(kind: str) -> dict[str, str]:
    """The sections of the page of an element by title; the first has none."""
    source = (CRATE / "src/elements" / kind / "mod.rs").read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {"": []}
    title, is_code = "", False
    for line in documented(source, rf"pub (?:struct|type) {KINDS[kind]}<"):
        is_code ^= line.startswith("```")
        if line.startswith("# ") and not is_code:
            title = line[2:]
            sections[title] = []
        else:
            sections[title].append(f"##{line}" if line.startswith("## ") and not is_code else line)
    kept = {title: lines for title, lines in sections.items() if not title.startswith(LEFT_OUT)}
    return {title: plain("\n".join(lines)).strip() for title, lines in kept.items()}


def parameters(kind: str) -> dict[str, tuple[str, str]]:
    """What each parameter of an element is, and its range."""
    for file in sorted((CRATE / "src/elements" / kind).glob("*.rs")):
        source = file.read_text(encoding="utf-8")
        if declared := re.search(r"pub struct Parameters<T> \{\n(.*?)\n    \}", source, re.DOTALL):
            break
    else:
        raise LookupError(kind)
    found: dict[str, tuple[str, str]] = {}
    text: list[str] = []
    for line in map(str.strip, declared[1].splitlines()):
        if line.startswith("///"):
            text.append(line[3:].strip())
        elif field := re.match(r"pub (\w+): [^,=]*?(?:\[.*?\])?(?: = [^,]*)?(?:, (\w+))?(?: => \w+)?;", line):
            summary = text[: text.index("")] if "" in text else text
            found[field[1]] = (plain(" ".join(summary)), RANGES.get(field[2], ""))
            text = []
    found.pop("materials", None)  # given with the surfaces
    return found


def results(kind: str) -> dict[str, tuple[str, str, str]]:
    """Of each result of an element: the ends of the names of its numbers if there are several, units, and what it is."""
    folder = CRATE / "src/elements"
    files = [folder / name for name in SHARED.get(kind, [])] + sorted((folder / kind).glob("variables.rs"))
    found: dict[str, tuple[str, str, str]] = {}
    for file in files:
        for declared in re.findall(r"^results! \{\n(.*?)^\}", file.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            text: list[str] = []
            for line in map(str.strip, declared.splitlines()):
                if line.startswith("///"):
                    text.append(line[3:].strip())
                elif field := re.match(r"pub (\w+): (\w+)(?:<.*?>)? \[(.*)\];", line):
                    name, of, units = field.groups()
                    if of == "Pose":
                        # The numbers of its rotation have none.
                        units = f"1, {units}"
                    own = (" … ".join(PARTS.get(of, ())), units.replace('"', ""), plain(" ".join(text)))
                    found |= PATH if of == "PathResults" else {name: own}
                    text = []
                else:
                    text = []
    return found | COMMON


def written() -> dict[Path, str]:
    """The files and what they contain."""
    laws = [HEAD]
    described = {}
    for kind, name in KINDS.items():
        sections = page(kind)
        described[kind] = (sections["Law"], parameters(kind), results(kind))
        laws.append(f"\n## {name}: `add_{kind}`\n\n{sections.pop('')}\n")
        laws += [f"\n### {title}\n\n{text}\n" for title, text in sections.items()]
        laws.append("\n### Parameters\n\n| name | | range |\n|---|---|---|\n")
        laws += [f"| `{field}` | {text} | {bounds} |\n" for field, (text, bounds) in parameters(kind).items()]
        laws.append("\n### Results\n\n| name | unit | |\n|---|---|---|\n")
        for field, (parts, unit, text) in results(kind).items():
            laws.append(f"| `{field}`{f', `{parts}`' if parts else ''} | {unit} | {text} |\n")
    module = (
        '"""Of each kind of element: its law; of each parameter, what it is and its range; of each result, the ends of the names of its'
        ' numbers,\nits units and what it is. Generated by describe.py."""\n\n'
        f"DESCRIBED: dict[str, tuple[str, dict[str, tuple[str, str]], dict[str, tuple[str, str, str]]]] = {pprint.pformat(described, width=120, sort_dicts=False)}\n"
    )
    return {HERE / "docs/elements.md": "".join(laws), HERE / "python/force_elements/_described.py": module}


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
