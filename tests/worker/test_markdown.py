import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from boardreadyops.domain.plain_text import one_line
from boardreadyops.worker.markdown import code, escape, fit, paragraph, table

GAP = "\N{ZERO WIDTH SPACE}"
GITHUB_LIKE = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PIECES = [*"`*_[]()<>!|\\~$#@&;:/.-+=1w \n\t\"'", "www", "http", "gh-", "a"]
NASTY = st.text(st.characters(exclude_categories=())) | st.lists(st.sampled_from(PIECES), max_size=30).map(
    "".join
)


def shown(markdown: str) -> tuple[set[str], str]:
    """The kinds of markup in one paragraph, and the text a reader sees."""
    kinds, text = set(), ""
    for token in GITHUB_LIKE.parse(markdown):
        kinds.add(token.type)
        for child in token.children or []:
            kinds.add(child.type)
            text += child.content
    return kinds, text.replace(GAP, "")


PARAGRAPH = {"paragraph_open", "inline", "text", "text_special", "paragraph_close"}


@given(NASTY)
@example("# x")
@example("- x")
@example("1. x")
@example("1) x")
@example("=== ")
@example("> x")
@example("```x")
@example("<b>x</b> &lt; &#64;")
def test_any_text_is_shown_as_it_is_and_nothing_more(text: str) -> None:
    line = one_line(text, limit_characters=500)
    kinds, seen = shown(paragraph(text, limit_characters=500))
    assert kinds <= PARAGRAPH
    assert seen == line


@given(st.lists(NASTY, min_size=2, max_size=2))
def test_any_text_keeps_to_its_cell(cells: list[str]) -> None:
    escaped = [escape(one, limit_characters=200) for one in cells]
    tokens = GITHUB_LIKE.parse("\n".join(table(("A", "B"), [escaped])))
    inlines = [one for one in tokens if one.type == "inline"][2:]
    assert len(inlines) == 2
    for inline, text in zip(inlines, cells, strict=True):
        assert {one.type for one in inline.children or []} <= {"text", "text_special"}
        seen = "".join(one.content for one in inline.children or []).replace(GAP, "")
        assert seen == one_line(text, limit_characters=200)


@given(NASTY)
def test_nobody_is_mentioned_and_nothing_is_linked(text: str) -> None:
    escaped = escape(text, limit_characters=500)
    assert not re.search(r"@\w|://|www\.|gh-\d", escaped, re.IGNORECASE)
    assert not re.search(r"(?<!&)#\w", escaped)
    assert not re.search(r"[<>`|\\\[\]]", escaped)


@pytest.mark.parametrize(
    "text", ["@team/board", "see #12", "GH-12", "http://x.example", "www.x.example", "a@b.example"]
)
def test_what_github_would_link_is_broken_up_invisibly(text: str) -> None:
    escaped = escape(text, limit_characters=100)
    assert GAP in escaped
    assert escaped.replace(GAP, "") == text


def test_an_identifier_is_code_and_anything_else_is_not() -> None:
    assert code("lib_footprint_mismatch", limit_characters=50) == "`lib_footprint_mismatch`"
    assert code("a`b", limit_characters=50) == "a&#96;b"
    assert code("", limit_characters=50) == ""


@given(st.lists(st.text(max_size=20), max_size=20), st.integers(0, 200))
def test_lines_fit_by_bytes_not_by_characters(lines: list[str], limit: int) -> None:
    count = fit(lines, limit_bytes=limit)
    sizes = [len(one.encode(errors="replace")) + 1 for one in lines]
    assert sum(sizes[:count]) <= limit
    assert count == len(lines) or sum(sizes[: count + 1]) > limit
