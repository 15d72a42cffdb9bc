"""The page a person sees for a check run."""

from html import escape

from boardreadyops.standin.state import CheckRun

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = (
    "body{font:1rem/1.5 sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap}"
)


def check_run_page(check: CheckRun) -> str:
    """Return the HTML of a check run; every word from outside is escaped, Markdown is shown as it was sent."""
    output = check.output
    verdict = check.conclusion or check.status
    title = escape(output.get("title") or check.name)
    notes = "".join(
        f"<li>{escape(str(one['annotation_level']))}: {escape(str(one['path']))}:{one['start_line']} "
        f"{escape(str(one['message']))}</li>"
        for one in check.annotations
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<p>{escape(check.repository.full_name)} at <code>{escape(check.head_sha)}</code></p>"
        f"<h1>{escape(check.name)}: {title}</h1><p><strong>{escape(verdict)}</strong></p>"
        f"<pre>{escape(output.get('summary') or '')}</pre><pre>{escape(output.get('text') or '')}</pre>"
        f"<ul>{notes}</ul><p>This is a stand-in for GitHub on this machine.</p></html>"
    )
