// Keeps an open page fresh: the server's fragment of the same page, every five seconds, while somebody can see it.
// Without script every page is complete; with it nothing moves that did not change, and focus and scroll stay.

const REFRESH_MS = 5000;
const TICK_MS = 1000;
const region = document.getElementById("live");
const line = document.getElementById("live-line");
const words = document.getElementById("live-words");
let timer = 0;
let asking = false;
let skew = region ? new Date(region.dataset.now) - Date.now() : 0; // this machine's clock may be wrong

function serverNow() {
  return Date.now() + skew;
}

function say(kind, text) {
  if (!line || words.textContent === text) return; // a screen reader hears changes only
  line.dataset.is = kind;
  words.textContent = text;
}

function paused() {
  if (!navigator.onLine) return "Paused while offline";
  if (document.hidden) return "Paused while hidden";
  return "";
}

function schedule(delay) {
  clearTimeout(timer);
  if (region.dataset.live !== "open") return say("final", "Final: nothing more to wait for");
  const why = paused();
  if (why) return say("paused", why);
  timer = setTimeout(refresh, delay);
}

async function refresh() {
  if (asking) return;
  asking = true;
  try {
    const answer = await fetch(region.dataset.url, {
      headers: { "If-None-Match": region.dataset.etag },
      cache: "no-store",
      signal: AbortSignal.timeout(2 * REFRESH_MS),
    });
    const sent = Date.parse(answer.headers.get("date"));
    if (Math.abs(sent - serverNow()) > 2000) skew = sent - Date.now();
    if (answer.status === 200) take(await answer.text());
    if (answer.status === 401 || answer.status === 404) {
      region.dataset.live = "gone";
      return say("trouble", "No longer here for you: reload the page");
    }
    if (answer.ok || answer.status === 304) say("live", "Live: looks for news every 5 s");
    else say("trouble", "The server cannot answer now: trying again");
  } catch {
    say("trouble", "No answer from the server: trying again");
  } finally {
    asking = false;
    if (region.dataset.live !== "gone") schedule(REFRESH_MS);
  }
}

function take(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("live");
  if (!fresh) return;
  morph(region, fresh);
  if (region.dataset.title) document.title = region.dataset.title;
  tick();
}

// Makes `now` like `then` and keeps every node that can stay: whoever has focus or is scrolled keeps it.
function morph(now, then) {
  if (now.nodeType !== then.nodeType || now.nodeName !== then.nodeName || (now.id || "") !== (then.id || "")) {
    now.replaceWith(then);
    return;
  }
  if (now.nodeType !== Node.ELEMENT_NODE) {
    if (now.nodeValue !== then.nodeValue) now.nodeValue = then.nodeValue;
    return;
  }
  if (now.isEqualNode(then)) return;
  for (const { name } of [...now.attributes]) {
    if (!then.hasAttribute(name) && !(name === "open" && now.nodeName === "DETAILS")) now.removeAttribute(name);
  }
  for (const { name, value } of then.attributes) {
    if (now.getAttribute(name) !== value) now.setAttribute(name, value);
  }
  const wanted = [...then.childNodes];
  wanted.forEach((child, place) => {
    const here = now.childNodes[place];
    const same = child.id && here?.id !== child.id ? [...now.children].find((one) => one.id === child.id) : null;
    if (same) {
      now.insertBefore(same, here);
      morph(same, child);
    } else if (!here) now.append(child);
    else if (here.id && here.id !== (child.id || "")) now.insertBefore(child, here);
    else morph(here, child);
  });
  while (now.childNodes.length > wanted.length) now.lastChild.remove();
}

// The words of boardreadyops/web/wording.py, kept going between refreshes.
function ago(seconds, moment) {
  const days = Math.floor(seconds / 86400);
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  if (days <= 30) return days === 1 ? "yesterday" : `${days} days ago`;
  const options = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
  return new Intl.DateTimeFormat("en-GB", options).format(moment);
}

function lasting(seconds) {
  if (seconds < 1) return "under 1 s";
  const parts = [];
  let rest = Math.floor(seconds);
  for (const [name, size] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
    const amount = Math.floor(rest / size);
    rest %= size;
    if (amount) parts.push(`${amount} ${name}`);
    if (parts.length === 2 || (parts.length && !amount)) break;
  }
  return parts.join(" ");
}

function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function tick() {
  if (document.hidden) return;
  const now = serverNow();
  for (const node of document.querySelectorAll("time[data-ago]")) {
    const moment = new Date(node.dateTime);
    put(node, ago((now - moment) / 1000, moment));
  }
  for (const node of document.querySelectorAll("[data-since]")) {
    put(node, lasting(Math.max(0, now - new Date(node.dataset.since)) / 1000));
  }
  stretch(now);
}

function stretch(now) {
  const parts = [...document.querySelectorAll(".bar .part")];
  if (!parts.some((part) => part.dataset.to === "")) return;
  const spans = parts.map((part) => Math.max(0, (part.dataset.to ? new Date(part.dataset.to) : now) - new Date(part.dataset.from)));
  const total = spans.reduce((sum, span) => sum + span, 0) || 1;
  const shares = spans.map((span) => Math.max(0.006, span / total));
  const scale = 100 / shares.reduce((sum, share) => sum + share, 0);
  let left = 0;
  parts.forEach((part, place) => {
    part.setAttribute("x", `${left}%`);
    part.setAttribute("width", `${shares[place] * scale}%`);
    left += shares[place] * scale;
  });
}

function look() {
  if (paused() || region.dataset.live !== "open") schedule(0);
  else {
    clearTimeout(timer);
    refresh();
  }
  tick();
}

if (region) {
  if (region.dataset.live === "open") say("live", "Live: looks for news every 5 s");
  document.addEventListener("visibilitychange", look);
  addEventListener("online", look);
  addEventListener("offline", look);
  addEventListener("pageshow", (event) => event.persisted && look());
  schedule(REFRESH_MS);
}
tick();
setInterval(tick, TICK_MS);
