// The annotator's pages: keys, no reloads, and answers that survive a lost connection. Without it the forms still work.
"use strict";

(() => {
  const RETRY = [1000, 2000, 4000, 8000, 15000];
  const PATIENCE = 20000; // milliseconds until an answer that does not come is asked for again
  const LOOK_AGAIN = 15000; // milliseconds between looks for something to do, on the page that says to wait
  let sending = false;
  let looking;

  const $ = (id) => document.getElementById(id);
  const word = (name) => $("words").dataset[name];
  const store = {
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { value === null ? localStorage.removeItem(key) : localStorage.setItem(key, value); } catch { /* private mode */ } },
    read(key) { try { return JSON.parse(store.get(key)); } catch { return null; } },
  };
  const home = word("home"); // the personal link, where all forms go
  const WAITING = `codejury:waiting:${home}`;
  const DRAFT = `codejury:draft:${home}`;
  const asking = () => document.querySelector("main form.questions");

  // How long the page was really looked at, in seconds.
  let active = 0;
  let since = document.hidden ? null : performance.now();
  const activeSeconds = () => ((active + (since === null ? 0 : performance.now() - since)) / 1000).toFixed(1);
  const restartClock = () => { active = 0; since = document.hidden ? null : performance.now(); };

  // Spoken from a place that stays when the page's content is replaced, and shown there when something is wrong.
  function say(text, trouble = false) {
    const said = $("said");
    if (said.textContent !== text) said.textContent = text;
    said.classList.toggle("trouble", trouble);
    if ($("saved")) $("saved").textContent = trouble ? "" : text;
  }

  function complain(text) {
    const error = $("error");
    if (!error) return;
    error.textContent = text;
    error.hidden = !text;
  }

  const parse = (html) => new DOMParser().parseFromString(html, "text/html");
  const itemOf = () => $("content").querySelector("input[name=sequence]")?.value;

  // Put the next page into this one: no reload, no flash, the keyboard stays where it is needed.
  function show(next, url) {
    const [content, before] = [next.getElementById("content"), itemOf()];
    $("bar").innerHTML = next.getElementById("bar").innerHTML;
    $("content").innerHTML = content.innerHTML;
    $("content").dataset.step = content.dataset.step || "";
    if (next.getElementById("words")) $("words").replaceWith(next.getElementById("words"));
    document.title = next.title;
    document.body.className = next.body.className;
    if (url && url !== location.href) history.replaceState(null, "", url);
    window.scrollTo(0, 0);
    restartClock();
    prepare();
    const wrong = $("error")?.hidden === false ? unanswered(asking()) : null;
    const heading = $("content").querySelector("h1");
    if (heading) heading.tabIndex = -1;
    const same = before !== undefined && before === itemOf();
    (wrong?.querySelector("input") || (same && $("question")) || heading || $("content")).focus({ preventScroll: true });
  }

  const post = (body) => fetch(home, {
    method: "POST", body, credentials: "same-origin", signal: AbortSignal.timeout?.(PATIENCE),
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });

  // Send until the server answers. Sending twice is harmless: it knows each form by its key.
  async function deliver(body) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await post(body);
        if (answer.status < 500) return { answer, next: parse(await answer.text()) };
      } catch { /* no connection: try again */ }
      say(word("kept"), true);
      await new Promise((done) => {
        const timer = setTimeout(done, RETRY[Math.min(attempt, RETRY.length - 1)]);
        window.addEventListener("online", () => { clearTimeout(timer); done(); }, { once: true });
      });
    }
  }

  // What could not be sent before goes first; what is not stored yet stays in the browser, over reloads too.
  async function send(bodies, again = false) {
    if (sending) return;
    sending = true;
    document.querySelectorAll("main button[name=action], main form fieldset").forEach((part) => { part.disabled = true; });
    say(word("saving"));
    let last;
    for (const left = [...bodies]; left.length; left.shift()) {
      store.set(WAITING, JSON.stringify({ bodies: left, again }));
      last = await deliver(left[0]);
      if (last.answer.status === 403 || !last.next.getElementById("content")) {
        sending = false; // the cookie is gone, or this was no page of ours: once more after a reload
        store.set(WAITING, JSON.stringify({ bodies: left, again: !again }));
        if (!again) location.reload();
        else { show(last.next.getElementById("content") ? last.next : document); say(word("kept"), true); }
        return;
      }
    }
    store.set(WAITING, null);
    store.set(DRAFT, null);
    sending = false;
    show(last.next, last.answer.url);
    const done = { grade: "saved", skip: "skipped", broken: "skipped" }[new URLSearchParams(bodies.at(-1)).get("action")];
    say(last.answer.ok && done ? word(done) : "");
  }

  const unsent = () => store.read(WAITING)?.bodies || [];

  // An answer that was on its way when the page was closed.
  function resume() {
    const bodies = unsent();
    if (!bodies.length || location.pathname !== home) return;
    send(bodies.map((body) => {
      const form = new URLSearchParams(body);
      form.set("csrfmiddlewaretoken", $("words").content.querySelector("input").value);
      return form.toString();
    }), store.read(WAITING).again);
  }

  const answered = (question) => question.querySelector("input:checked") || question.querySelector("input[type=number]")?.value;
  const unanswered = (form) => [...form?.querySelectorAll("fieldset[data-question]") || []].find((question) => !answered(question));

  function submit(event) {
    const form = event.target;
    if (form.method !== "post" || form.getAttribute("action") !== home) return;
    event.preventDefault();
    const action = event.submitter?.value || form.querySelector("button.go").value;
    const open = ["grade", "practice"].includes(action) && unanswered(form);
    if (open) {
      say("");
      complain(word(form.querySelectorAll("fieldset[data-question]").length > 1 ? "each" : "choose"));
      open.querySelector("input:not([hidden])").focus();
      return;
    }
    if (form.elements.active_seconds) form.elements.active_seconds.value = activeSeconds();
    const body = new URLSearchParams(new FormData(form));
    body.set("action", action);
    send([...unsent(), body.toString()]);
  }

  // The question that a digit answers: the first open one; when all are answered, the one in focus.
  const current = (form) => unanswered(form) || document.activeElement.closest("fieldset[data-question]")
    || form.querySelector("fieldset[data-question]:last-of-type");

  function key(event) {
    const form = asking();
    if (!form || sending || event.repeat || event.ctrlKey || event.metaKey || event.altKey || $("shortcuts").open) return;
    if (event.target.closest("textarea, summary, .broken, input[type=number]")) return;
    if (event.key.length === 1 && !singleKeys()) return;
    if (event.key >= "0" && event.key <= "9") {
      const option = current(form).querySelector(`input[data-key="${event.key}"]`);
      if (!option) return;
      event.preventDefault();
      option.checked = true;
      option.focus({ preventScroll: true });
      changed(option);
    } else if (event.key === "Enter" && !event.target.closest("a, button")) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button.go"));
    } else if (event.key.toLowerCase() === "s" && !event.shiftKey) {
      form.querySelector("button[value=skip]")?.click();
    } else if (event.key === "?") {
      $("shortcuts").showModal();
    }
  }

  // Who dictates or types by accident can turn off the keys that are a single character (WCAG 2.1.4).
  const singleKeys = () => store.get("codejury:keys") !== "0";

  // How the code is shown is the reader's choice and is remembered; on a phone lines are wrapped at first.
  const wraps = () => (store.get("codejury:wrap") || (matchMedia("(max-width: 600px)").matches ? "1" : "0")) === "1";
  function dress() {
    const wrapped = wraps();
    document.documentElement.style.setProperty("--code-size", `${Number(store.get("codejury:size")) || 15}px`);
    document.querySelectorAll("pre.code").forEach((code) => code.classList.toggle("wrapped", wrapped));
    $("wrap")?.setAttribute("aria-pressed", String(wrapped));
    if ($("single")) $("single").checked = singleKeys();
    document.body.classList.toggle("keyless", !singleKeys());
  }

  function click(event) {
    const id = event.target.closest("button")?.id;
    const size = Number(store.get("codejury:size")) || 15;
    if (id === "wrap") store.set("codejury:wrap", wraps() ? "0" : "1");
    else if (id === "smaller") store.set("codejury:size", String(Math.max(size - 1, 10)));
    else if (id === "larger") store.set("codejury:size", String(Math.min(size + 1, 26)));
    else if (id === "keys") $("shortcuts").showModal();
    else if (id === "copy") {
      navigator.clipboard.writeText($("link").value).then(() => { $("copy").textContent = word("copied"); say(word("copied")); }, () => {});
      $("link").select();
    } else return;
    dress();
  }

  // A choice, a number or a word: it is kept until it is sent, and the keys go on to the next question.
  function changed(field) {
    const form = field.form;
    if (field.type === "range") field.parentElement.querySelector("input[type=number]").value = field.value;
    mark();
    if (!/^(value|comment|answer)-/.test(field.name) && field.type !== "range") return;
    if (field.name.startsWith("value-") || field.type === "range") complain("");
    const id = form?.elements.key?.value || form?.elements.step?.value;
    const given = [...new FormData(form)].filter(([name, value]) => value && /^(value|comment|answer)-/.test(name));
    if (id) store.set(DRAFT, JSON.stringify({ id, given }));
  }

  function restore() {
    const draft = store.read(DRAFT);
    const form = [...document.querySelectorAll("main form")].find((each) => draft && [each.elements.key?.value, each.elements.step?.value].includes(draft.id));
    for (const [name, value] of form ? draft.given : []) {
      for (const field of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
        if (field.type !== "radio") field.value = value;
        else if (field.value === value) field.checked = true;
      }
    }
  }

  // A slider has no answer until it was moved; the number beside it is what is sent.
  function mark() {
    document.querySelectorAll(".slider").forEach((slider) => {
      const [range, number] = [slider.querySelector("input[type=range]"), slider.querySelector("input[type=number]")];
      range.hidden = false;
      range.classList.toggle("untouched", !number.value);
      if (number.value) range.value = number.value;
    });
    const form = asking();
    form?.querySelectorAll("fieldset[data-question]").forEach((question) => question.classList.toggle("current", question === current(form)));
  }

  // The page that says to wait looks again by itself, while somebody looks at it; nothing moves until there is something.
  async function look() {
    clearTimeout(looking);
    const form = $("wait");
    if (!form || sending) return;
    if (!document.hidden) {
      try {
        const body = new URLSearchParams(new FormData(form));
        body.set("action", "next");
        const answer = await post(body.toString());
        const next = parse(await answer.text());
        const step = next.getElementById("content")?.dataset.step;
        if (form.isConnected && !sending && answer.ok && step && step !== "wait") { show(next, answer.url); return; }
      } catch { /* no connection: later */ }
    }
    if (form.isConnected) looking = setTimeout(look, LOOK_AGAIN);
  }

  function prepare() {
    document.querySelectorAll(".tools, #keys").forEach((part) => { part.hidden = false; });
    if ($("copy") && navigator.clipboard) $("copy").hidden = false;
    restore();
    mark();
    dress();
    clearTimeout(looking);
    if ($("wait")) looking = setTimeout(look, LOOK_AGAIN);
  }

  document.addEventListener("submit", submit);
  document.addEventListener("keydown", key);
  document.addEventListener("click", click);
  document.addEventListener("input", ({ target }) => { if (target.form) changed(target); });
  document.addEventListener("change", ({ target }) => {
    if (target.id === "single") { store.set("codejury:keys", target.checked ? null : "0"); dress(); }
  });
  for (const kind of ["pointerdown", "keydown"]) { // a slider is answered by a touch that leaves it where it is, too
    document.addEventListener(kind, ({ target, key: pressed }) => {
      if (target.type === "range" && target.form && (!pressed || pressed === " ")) changed(target);
    });
  }
  document.addEventListener("copy", (event) => { if (document.body.classList.contains("nocopy") && !event.target.closest?.("input, textarea")) event.preventDefault(); });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && since !== null) { active += performance.now() - since; since = null; }
    else if (!document.hidden) { since = performance.now(); look(); }
  });
  window.addEventListener("beforeunload", (event) => { if (sending) event.preventDefault(); });
  prepare();
  resume();
})();
