"""The pages of docs as articles of a DocC catalogue: scripts/docs uses it."""

import pathlib
import re
import shutil

ROOT_PAGE = """# Guides and tutorials

@Metadata {
  @TechnologyRoot
}

Shared frames, notifications, settings, secrets and a log for the processes of one application.

## Topics
"""

# Folders of docs, in the order in which the site lists them.
GROUPS = [
    ("Tutorials", "docs/tutorials"), ("Guides", "docs/guides"), ("Overview", "docs"),
    ("Formats and protocols", "docs/design"), ("Decisions", "docs/decisions"),
]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def article(path: pathlib.PurePath) -> str:
    """The name of a page's article: names are unique in a catalogue."""
    folder = path.parent.name
    stem = path.stem.lower()
    return stem if folder == "docs" else f"{folder}-{stem}"


def plain(heading: str) -> str:
    return re.sub(r"[`*]", "", LINK.sub(lambda match: match[2], heading)).strip()


def fragment(page: pathlib.Path, anchor: str) -> str:
    """DocC's anchor of the heading for which GitHub has this one."""
    for heading in HEADING.findall(outside_code(page.read_text())):
        text = plain(heading)
        if re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") == anchor:
            return re.sub(r"\s+", "-", re.sub(r"[^\w\s\-.~:()/,]", "", text)).strip("-")
    raise SystemExit(f"scripts/docs: {page} has no heading #{anchor}")


def outside_code(text: str) -> str:
    """The text without its code blocks."""
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)


def relinked(text: str, page: pathlib.Path, root: pathlib.Path, pages: set[pathlib.Path]) -> str:
    """Links to other pages as DocC writes them; other files of the repository by their path."""

    def replace(match: re.Match) -> str:
        mark, label, target = match.groups()
        if re.match(r"[a-z]+:", target) or mark:
            return match[0]
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists():
            raise SystemExit(f"scripts/docs: {page}: there is no {target}")
        if file.is_dir() and file / "README.md" in pages:
            file = file / "README.md"
        if file in pages:
            link = f"doc:{article(file.relative_to(root))}"
            if anchor:
                link += "#" + fragment(file, anchor)
            return f"[{label}]({link})"
        place = f"`{file.relative_to(root)}`"
        return place if label.strip("`") == place.strip("`") else f"{label} ({place})"

    parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if index % 2 else LINK.sub(replace, part) for index, part in enumerate(parts))


def write_pages(root: pathlib.Path, catalog: pathlib.Path) -> int:
    """Writes the catalogue, with the pictures; returns its number of pages."""
    catalog.mkdir()
    pages = {path.resolve() for _, folder in GROUPS for path in (root / folder).glob("*.md")
             if path.name != "0000-template.md"}
    lines = [ROOT_PAGE]
    for title, folder in GROUPS:
        for picture in (root / folder).glob("*.svg"):
            shutil.copy(picture, catalog)
        lines.append(f"\n### {title}\n")
        for page in sorted(pages):
            if page.parent == (root / folder).resolve():
                name = article(page.relative_to(root))
                (catalog / f"{name}.md").write_text(
                    relinked(page.read_text(), page, root, pages))
                lines.append(f"- <doc:{name}>")
    (catalog / "Guides.md").write_text("\n".join(lines) + "\n")
    return len(pages)
