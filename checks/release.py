"""Check that a release can be made, build and check its distributions, and write the tag with --tag.

    python checks/release.py [--tag] [--expect v0.2.0]

The version is in pkg/__init__.py. A release needs a committed tree, a dated section of CHANGELOG.md for the version,
and a tag of that version that is new or refers to the current commit. The distributions go to dist/. Without --tag
nothing else is written. A pushed tag starts .github/workflows/release.yml, which publishes.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from check_wheel import check_distributions, keep

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r'^__version__ = "(\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)"$', re.MULTILINE)


class NotReadyError(Exception):
    """Reason why the release cannot be made, with what to do."""


def read_version(text: str) -> str:
    """Return the version assigned in the text of pkg/__init__.py; raise NotReadyError without one."""
    found = VERSION.search(text)
    if not found:
        raise NotReadyError('pkg/__init__.py assigns no version such as __version__ = "1.2.3"')
    return found[1]


def read_notes(changelog: str, version: str) -> str:
    """Return the section of a version in the changelog; raise NotReadyError if it is missing, undated or empty."""
    head = re.search(rf"^## {re.escape(version)}(.*)$", changelog, re.MULTILINE)
    if not head:
        raise NotReadyError(f"CHANGELOG.md has no section '## {version} (YYYY-MM-DD)'; rename 'Unreleased'")
    if not re.fullmatch(r" \(\d{4}-\d\d-\d\d\)", head[1]):
        raise NotReadyError(f"CHANGELOG.md: '{head[0]}' found, '## {version} (YYYY-MM-DD)' expected")
    notes = re.split(r"^## ", changelog[head.end() :], maxsplit=1, flags=re.MULTILINE)[0].strip()
    if not notes:
        raise NotReadyError(f"CHANGELOG.md: the section {version} is empty; list what changed")
    return notes


def git(*arguments: str) -> str:
    """Return the output of a git command in the project; raise NotReadyError if it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise NotReadyError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def check_commit(tag: str) -> None:
    """Raise NotReadyError if files are not committed, or the tag belongs to another commit."""
    if changed := git("status", "--porcelain"):
        raise NotReadyError(f"files are not committed; commit or remove them:\n{changed}")
    if git("tag", "--list", tag) and git("rev-list", "-n", "1", tag) != git("rev-parse", "HEAD"):
        raise NotReadyError(f"the tag {tag} belongs to another commit; raise __version__ in pkg/__init__.py")


def release(expected: str | None, write_tag: bool) -> None:
    """Check, build and optionally tag the release; raise NotReadyError if it cannot be made."""
    version = read_version((ROOT / "pkg" / "__init__.py").read_text(encoding="utf-8"))
    tag = f"v{version}"
    if expected not in (None, tag):
        raise NotReadyError(f"tag {expected} expected, but pkg/__init__.py says {version}")
    notes = read_notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    check_commit(tag)
    with tempfile.TemporaryDirectory(prefix="pkg-release-") as folder:
        keep(check_distributions(Path(folder).resolve()), ROOT / "dist")
    if not write_tag:
        print(f"release {version}: ready; distributions in dist/, no tag written")
    elif git("tag", "--list", tag):
        print(f"release {version}: the tag {tag} is there already; distributions in dist/")
    else:
        git("tag", "--annotate", tag, "--message", f"Release {version}\n\n{notes}", "--cleanup=verbatim")
        print(
            f"release {version}: distributions in dist/, tag {tag} written; push it to publish: git push origin {tag}"
        )


def main() -> None:
    """Parse the options and make the release, or print the reason why it cannot be made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", action="store_true", help="write the annotated tag")
    parser.add_argument("--expect", metavar="TAG", help="fail where the version is another one")
    options = parser.parse_args()
    try:
        release(options.expect, options.tag)
    except NotReadyError as error:
        sys.exit(f"release: {error}")


if __name__ == "__main__":
    main()
