"""HTML pages are written in Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.documents.html_text import write_markdown

_TAGS = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<ul>",
        "</ul>",
        "<ol>",
        "<li>",
        "</li>",
        "<dl>",
        "<dt>",
        "<dd>",
        "</dd>",
        "</dl>",
        "<table>",
        "<tr>",
        "<td>",
        "<th>",
        "</table>",
        "<pre>",
        "</pre>",
        "<h2>",
        "</h2>",
        "<code>",
        "</code>",
        "<nav>",
        "</nav>",
        "<br>",
        "x",
        "# y",
        "<script>",
        "</script>",
        "&amp;",
        "<",
        "<!-- c -->",
        "\n",
    ],
)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<h1>A <code>b</code> &amp; c<a class=headerlink>#</a></h1>", "# A `b` & c"),
        ("<p>one<p>two<br>three", "one\n\ntwo\n\nthree"),
        ("<ul><li>a<ul><li>b</li></ul><li>c</ul>d", "- a\n\n  - b\n\n- c\n\nd"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n\n2. b"),
        ("<dl><dt>t</dt><dd><p>d</p><p>e</p></dd></dl>", "t\n:   d\n\n    e"),
        ("<div class='highlight-python'><pre>def f():\n    pass\n</pre></div>", "```python\ndef f():\n    pass\n```"),
        ("<pre>```</pre>", "````\n```\n````"),
        ("<table><tr><th>k<th>v<tr><td>a<p>b<td>1|2</table>", "| k | v |\n| --- | --- |\n| a b | 1\\|2 |"),
        ("<nav>menu<nav>x</nav></nav><script>var x = '<p>';</script><style>p{}</style>text", "text"),
        ("<p># no heading</p><p>- no item</p>", "\\# no heading\n\n\\- no item"),
        ("no body", "no body"),
        ("", ""),
    ],
)
def test_elements_are_written_as_markdown(page: str, text: str) -> None:
    assert write_markdown(page) == text


@given(st.lists(_TAGS, max_size=30))
def test_unbalanced_pages_are_written_without_errors(tags: list[str]) -> None:
    assert write_markdown("".join(tags)) == write_markdown("".join(tags))
