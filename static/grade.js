// The annotator's page: keys, no reloads, and answers that survive a lost connection. Without it the forms still work.
"use strict";

(() => {
  const RETRY = [1000, 2000, 4000, 8000, 15000];
  const PATIENCE = 20000; // milliseconds until an answer that does not come is asked for again
  const WAITING = `codejury:waiting:${location.pathname}`;
  let sending = false;

  const LOOK_AGAIN = 15000; // milliseconds between looks for something to do, on the page that says to wait
  const $ = (id) => document.getElementById(id);
  const word = (name) => $("words")?.dataset[name] || "";
  const store = {
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { value === null ? localStorage.removeItem(key) : localStorage.setItem(key, value); } catch { /* private mode */ } },
  };

  // How long the page was really looked at, in seconds.
  let active = 0;
  let since = document.hidden ? null : performance.now();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && since !== null) { active += performance.now() - since; since = null; }
    else if (!document.hidden) since = performance.now();
  });
  const activeSeconds = () => ((active + (since === null ? 0 : performance.now() - since)) / 1000).toFixed(1);
  const restartClock = () => { active = 0; since = document.hidden ? null : performance.now(); };

  // Spoken from a place that stays when the page's content is replaced.
  const spoken = document.createElement("p");
  spoken.className = "hidden";
  spoken.setAttribute("role", "status");
  document.body.append(spoken);

  function say(text, failed = false) {
    if (spoken.textContent !== text) spoken.textContent = text;
    const saved = $("saved");
    if (!saved) return;
    saved.textContent = text;
    saved.classList.toggle("error", failed);
  }

  function complain(text) {
    const error = $("error");
    error.textContent = text;
    error.hidden = !text;
  }

  // Put the next page into this one: no reload, no flash, the keyboard stays where it is needed.
  function show(next) {
    const content = next.getElementById("content");
    $("bar").innerHTML = next.getElementById("bar").innerHTML;
    content.querySelectorAll("script").forEach((script) => script.remove());
    $("content").innerHTML = content.innerHTML;
    document.title = next.title;
    document.body.className = next.body.className;
    window.scrollTo(0, 0);
    restartClock();
    prepare();
    ($("question") || $("content")).focus({ preventScroll: true });
  }

  // Send until the server answers. Sending twice is harmless: it knows each form by its key.
  async function deliver(url, body) {
    let retrying = "";
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await fetch(url, {
          method: "POST", body, credentials: "same-origin", signal: AbortSignal.timeout?.(PATIENCE),
          headers: { "Content-Type": "application/x-www-form-urlencoded" },
        });
        if (answer.status < 500) return { answer, html: await answer.text() };
      } catch { /* no connection: try again */ }
      say(retrying || (retrying = word("retry")) || "Not saved yet: trying again", true);
      await new Promise((done) => {
        const timer = setTimeout(done, RETRY[Math.min(attempt, RETRY.length - 1)]);
        window.addEventListener("online", () => { clearTimeout(timer); done(); }, { once: true });
      });
    }
  }

  async function send(url, body, again = false) {
    if (sending) return;
    sending = true;
    document.querySelectorAll("#grade button[name=action], #grade fieldset").forEach((part) => { part.disabled = true; });
    store.set(WAITING, JSON.stringify({ url, body, again }));
    say(word("saving"));
    const { answer, html } = await deliver(url, body);
    const next = new DOMParser().parseFromString(html, "text/html");
    const odd = answer.status === 403 || !next.getElementById("content") || !next.getElementById("bar");
    sending = false;
    if (odd && !again) { // the session's cookie is gone, or this was no page of ours: once more after a reload
      store.set(WAITING, JSON.stringify({ url, body, again: true }));
      location.reload();
      return;
    }
    store.set(WAITING, null);
    if (odd) { location.assign(url); return; }
    show(next);
    if (answer.ok) say(word(new URLSearchParams(body).get("action") === "grade" ? "saved" : "skipped"));
  }

  // The first question on the page that has no answer yet.
  const unanswered = (form) => [...form.querySelectorAll("fieldset[data-question]")].find((question) => {
    const slider = question.querySelector("input[type=range]");
    return slider ? !slider.dataset.moved : !question.querySelector("input:checked");
  });

  function submit(event) {
    const form = event.target;
    if (form.id !== "grade") return;
    event.preventDefault();
    const action = event.submitter?.value || "grade";
    const open = action === "grade" && unanswered(form);
    if (open) {
      say("");
      complain(word(form.querySelectorAll("fieldset[data-question]").length > 1 ? "each" : "choose"));
      open.querySelector("input").focus();
      return;
    }
    form.elements.active_seconds.value = activeSeconds();
    const body = new URLSearchParams(new FormData(form));
    body.set("action", action);
    send(form.getAttribute("action"), body.toString());
  }

  function key(event) {
    const form = $("grade");
    if (!form || sending || event.repeat || event.ctrlKey || event.metaKey || event.altKey || $("shortcuts").open) return;
    if (event.target.closest("input[type=text], input[type=range], textarea, select, summary") && event.key !== "Enter") return;
    if (event.target.closest("textarea, summary, .broken")) return;
    const onControl = event.target.closest("a, button");
    if (event.key.length === 1 && !singleKeys()) return;
    if (event.key >= "0" && event.key <= "9") {
      const option = form.querySelector(`input[data-key="${event.key}"]`);
      if (option) { option.checked = true; complain(""); option.focus({ preventScroll: true }); event.preventDefault(); }
    } else if (event.key === "Enter" && !onControl) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button[value=grade]"));
    } else if (event.key.toLowerCase() === "s" && !event.shiftKey) {
      form.querySelector("button[value=skip]")?.click();
    } else if (event.key === "?") {
      $("shortcuts").showModal();
    }
  }

  // Who dictates or types by accident can turn off the keys that are a single character (WCAG 2.1.4).
  const singleKeys = () => store.get("codejury:keys") !== "0";

  // How the code is shown is the reader's choice and is remembered.
  function dress() {
    const codes = document.querySelectorAll("pre.code");
    if (!$("wrap")) return;
    const size = Number(store.get("codejury:size")) || 15;
    const wrapped = store.get("codejury:wrap") === "1";
    document.documentElement.style.setProperty("--code-size", `${size}px`);
    codes.forEach((code) => code.classList.toggle("wrapped", wrapped));
    $("wrap").setAttribute("aria-pressed", String(wrapped));
    $("single").checked = singleKeys();
    document.body.classList.toggle("keyless", !singleKeys());
  }

  function click(event) {
    const id = event.target.closest("button")?.id;
    const size = Number(store.get("codejury:size")) || 15;
    if (id === "wrap") store.set("codejury:wrap", store.get("codejury:wrap") === "1" ? "0" : "1");
    else if (id === "smaller") store.set("codejury:size", String(Math.max(size - 1, 10)));
    else if (id === "larger") store.set("codejury:size", String(Math.min(size + 1, 26)));
    else if (id === "keys") $("shortcuts").showModal();
    else if (id === "copy") {
      navigator.clipboard?.writeText($("link").value).then(() => { $("copy").textContent = $("copy").dataset.copied; say($("copy").dataset.copied); }, () => {});
      $("link").select();
    } else return;
    dress();
  }

  let looking;
  const look = () => {
    const body = new URLSearchParams(new FormData($("wait")));
    body.set("action", "next");
    return body.toString();
  };

  // A slider has no answer until it was touched; then its number stands beside it.
  function tell(slider) {
    const output = slider.closest(".slider").querySelector("output");
    slider.classList.toggle("untouched", !slider.dataset.moved);
    output.hidden = !slider.dataset.moved;
    output.textContent = slider.value;
  }

  function prepare() {
    document.querySelectorAll(".tools, #keys").forEach((part) => { part.hidden = false; });
    if ($("copy") && navigator.clipboard) $("copy").hidden = false;
    document.querySelectorAll("input[type=range]").forEach(tell);
    dress();
    clearTimeout(looking);
    if ($("wait")) looking = setTimeout(() => send($("wait").getAttribute("action"), look()), LOOK_AGAIN);
  }

  // An answer that was on its way when the page was closed.
  function resume() {
    const waiting = store.get(WAITING);
    if (!waiting || !$("grade")) return;
    try {
      const { url, body, again } = JSON.parse(waiting);
      if (url !== $("grade").getAttribute("action")) return;
      const form = new URLSearchParams(body);
      form.set("csrfmiddlewaretoken", $("grade").elements.csrfmiddlewaretoken.value);
      send(url, form.toString(), again);
    } catch { store.set(WAITING, null); }
  }

  document.addEventListener("submit", submit);
  document.addEventListener("keydown", key);
  document.addEventListener("click", click);
  document.addEventListener("change", ({ target }) => {
    if (target.name?.startsWith("value-")) complain("");
    if (target.id === "single") { store.set("codejury:keys", target.checked ? null : "0"); dress(); }
  });
  for (const kind of ["input", "pointerdown", "keydown"]) {
    document.addEventListener(kind, ({ target, key }) => {
      if (target.type !== "range" || ["Tab", "Shift", "Enter"].includes(key)) return;
      target.dataset.moved = "1";
      tell(target);
    });
  }
  document.addEventListener("copy", (event) => { if (document.body.classList.contains("nocopy") && !event.target.closest("input, textarea")) event.preventDefault(); });
  window.addEventListener("beforeunload", (event) => { if (sending) event.preventDefault(); });
  prepare();
  resume();
})();
