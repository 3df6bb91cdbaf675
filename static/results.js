// Keeps the list of jobs fresh while one is running; when the last one ends, the page shows its result.
"use strict";

const list = document.getElementById("jobs");
const EVERY = 1500;

async function refresh() {
  let wait = EVERY;
  try {
    const answer = await fetch(list.dataset.url, { headers: { Accept: "application/json" }, credentials: "same-origin" });
    if (!answer.ok || answer.redirected) return; // logged out, or the study is gone: the page stays as it is
    const { html, active } = await answer.json();
    if (!active) return void location.reload();
    const focused = list.contains(document.activeElement) ? document.activeElement.id : "";
    list.innerHTML = html;
    if (focused) document.getElementById(focused)?.focus();
  } catch {
    wait = 4 * EVERY; // the server is away: ask less often
  }
  setTimeout(refresh, wait);
}

if (list && list.dataset.active === "true") setTimeout(refresh, EVERY);
