"""The script in a real browser: news arrive by themselves, nothing jumps, and nobody is asked in vain."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from playwright.async_api import Page, async_playwright, expect

from boardreadyops.web.wording import ago, lasting
from tests.web.conftest import NOON, SHA_A, Site

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]

expect.set_options(timeout=15_000)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
]


@dataclass(slots=True)
class Visit:
    """A tab, what it asked for, and what it complained about."""

    page: Page
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture
async def visit(site: Site) -> AsyncIterator[Visit]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = await browser.new_context(
            base_url=str(site.http.base_url), viewport={"width": 390, "height": 500}
        )
        seen = Visit(await context.new_page())
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.on("console", lambda message: seen.complaints.append(message.text))
        yield seen
        await browser.close()


async def nudge(page: Page, event: str = "online") -> None:
    """What the browser says when it is connected, or looked at, again."""
    await page.evaluate(
        f"(window.{'on' + event} !== undefined ? window : document).dispatchEvent(new Event('{event}'))"
    )


def refreshes(visit: Visit) -> int:
    return sum(address.endswith("/live") for address in visit.asked)


async def test_news_arrive_by_themselves_and_focus_and_scroll_stay(site: Site, visit: Visit) -> None:
    run_id = await site.run(SHA_A)
    page = visit.page
    await page.goto(f"/runs/{run_id}")
    await expect(page.locator("#live-words")).to_have_text("Live: looks for news every 5 s")
    await page.focus("#github-commit")
    await page.evaluate("scrollTo(0, 200)")
    lease = await site.lease()
    await nudge(page)
    await expect(page.locator("#headline")).to_have_text("Checking: a runner took it")
    await site.report(lease, lease.result("pass"))
    await nudge(page)
    await expect(page.locator("#headline")).to_have_text("Ready to fabricate")
    await expect(page.locator("#live-words")).to_have_text("Final: nothing more to wait for")
    assert (await page.title()).startswith("Ready to fabricate")
    assert await page.evaluate("document.activeElement.id") == "github-commit"
    assert await page.evaluate("scrollY") == 200
    assert visit.complaints == []


async def test_a_final_run_is_not_asked_about_again(site: Site, visit: Visit) -> None:
    run_id = await site.run(SHA_A)
    lease = await site.lease()
    await site.report(lease, lease.result("pass"))
    await visit.page.goto(f"/runs/{run_id}")
    await expect(visit.page.locator("#live-words")).to_have_text("Final: nothing more to wait for")
    await nudge(visit.page)
    assert refreshes(visit) == 0


async def test_refreshing_pauses_while_offline_or_hidden_and_resumes_at_once(
    site: Site, visit: Visit
) -> None:
    page, words = visit.page, visit.page.locator("#live-words")
    await page.goto(f"/runs/{await site.run(SHA_A)}")
    await page.context.set_offline(True)
    await expect(words).to_have_text("Paused while offline")
    asked = refreshes(visit)
    async with page.expect_response(lambda answer: answer.url.endswith("/live"), timeout=3_000) as known:
        await page.context.set_offline(False)
    assert (await known.value).status == 304
    await expect(words).to_have_text("Live: looks for news every 5 s")
    assert refreshes(visit) == asked + 1
    await page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    await nudge(page, "visibilitychange")
    await expect(words).to_have_text("Paused while hidden")
    async with page.expect_response(lambda answer: answer.url.endswith("/live"), timeout=3_000):
        await page.evaluate("delete document.hidden")
        await nudge(page, "visibilitychange")


async def test_a_server_that_cannot_answer_is_said_and_asked_again(site: Site, visit: Visit) -> None:
    page = visit.page
    await page.goto(f"/runs/{await site.run(SHA_A)}")
    await site.services.reader_database.close()
    await nudge(page)
    await expect(page.locator("#live-words")).to_have_text("The server cannot answer now: trying again")
    assert await page.locator("#headline").text_content() == "Waiting for a runner"


async def test_the_overview_shows_a_new_run_by_itself(site: Site, visit: Visit) -> None:
    await visit.page.goto("/")
    run_id = await site.run(SHA_A)
    await nudge(visit.page)
    await expect(visit.page.locator(f"#run-{run_id}")).to_be_visible()


async def test_script_and_server_say_times_with_the_same_words(site: Site, visit: Visit) -> None:
    from datetime import timedelta

    spans = [0.4, 1, 4.9, 59.9, 60, 125, 3_599, 3_600, 7_384, 86_399, 86_400, 200_000, 2_678_399, 2_678_400]
    source = (await site.http.get("/static/live.js")).text
    functions = source[source.index("function ago(") : source.index("function put(")]
    script = f"spans => {{ {functions}; return spans.map(s => [ago(s, new Date({NOON.timestamp() * 1000})), lasting(s)]); }}"
    await visit.page.goto("about:blank")
    told = await visit.page.evaluate(script, spans)
    assert told == [[ago(NOON, NOON + timedelta(seconds=span)), lasting(span)] for span in spans]
