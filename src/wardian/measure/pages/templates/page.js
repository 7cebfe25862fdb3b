(() => {
  "use strict";
  const $ = (selector, from = document) => from.querySelector(selector);
  const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
  const root = document.documentElement;

  // Light and dark: the system's, until somebody chooses.
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const turn = () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("wardian-theme", root.dataset.theme); } catch { /* a page from a file may not */ }
  };

  // Filters: rows carry the words that a search looks through; the address keeps what was asked for.
  const controls = ["search", "group", "show"];
  const value = (id) => $("#" + id)?.value.trim() ?? "";
  const filter = () => {
    const words = value("search").toLowerCase().split(/\s+/).filter(Boolean);
    const group = value("group"), show = value("show");
    let shown = 0, all = 0;
    for (const box of $$("[data-group], [data-stories]")) {
      let any = false;
      for (const row of $$("[data-words]", box)) {
        const fits = words.every((word) => row.dataset.words.includes(word))
          && (!group || box.dataset.group === group)
          && (!show || show in row.dataset);
        row.hidden = !fits;
        all += 1; shown += fits; any ||= fits;
      }
      if (box.dataset.group !== undefined) box.hidden = !any;
    }
    for (const part of $$("[data-part]")) {
      const boxes = $$("[data-group]", part);
      part.hidden = boxes.length > 0 ? boxes.every((one) => one.hidden) : shown < all;
    }
    const nothing = $("#nothing");
    if (nothing) nothing.hidden = shown > 0;
    const count = $("#count");
    if (count) count.textContent = `${shown} of ${all}`;
    const asked = new URLSearchParams(controls.filter(value).map((id) => [id, value(id)])).toString();
    try { history.replaceState(null, "", (asked ? "?" + asked : location.pathname.split("/").pop()) + location.hash); } catch { /* likewise */ }
  };

  // Evidence: a cell opens its section in a dialog; without this script it leads to the section.
  const dialog = $("#evidence");
  let asker = null;
  const open = (id, sandbox) => {
    const section = document.getElementById(id);
    if (!section?.classList.contains("evidence") || !dialog?.showModal) return false;
    const copy = section.cloneNode(true);
    copy.removeAttribute("id");
    const title = $("h3, h4", copy);
    if (title) title.id = "evidence-title";
    for (const one of $$(".answer", copy)) one.classList.toggle("asked", one.dataset.sandbox === sandbox);
    $(".held", dialog).replaceChildren(copy);
    asker = document.activeElement;
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    return true;
  };
  dialog?.addEventListener("close", () => {
    $(".held", dialog).replaceChildren();
    if (location.hash) history.replaceState(null, "", location.pathname.split("/").pop() + location.search);
    asker?.focus?.();
  });
  dialog?.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const id = decodeURIComponent(link.hash.slice(1));
    if (open(id, link.dataset.sandbox)) {
      event.preventDefault();
      history.replaceState(null, "", location.search + link.hash);
    }
  });

  // Arrows move between cells and tiles.
  const move = (event) => {
    const here = document.activeElement;
    if (here?.matches?.(".cell")) {
      const column = [...here.closest("tr").children].indexOf(here.closest("td"));
      const rows = $$("tr[data-words]", here.closest("table")).filter((row) => row.offsetParent);
      const at = rows.indexOf(here.closest("tr"));
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const next = step && $("a", rows[at + step[0]]?.children[column + step[1]] ?? document.createElement("i"));
      if (next) { event.preventDefault(); next.focus(); }
    } else if (here?.matches?.(".tile") && /^Arrow(Left|Right)$/.test(event.key)) {
      const tiles = $$(".tile").filter((one) => one.offsetParent);
      tiles[tiles.indexOf(here) + (event.key === "ArrowRight" ? 1 : -1)]?.focus();
      event.preventDefault();
    }
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches?.("input, select, textarea");
    if (event.key === "/" && !typing && !dialog?.open) { event.preventDefault(); $("#search")?.focus(); }
    else if (event.key === "t" && !typing) turn();
    else if (event.key === "Escape" && event.target.id === "search") { event.target.value = ""; filter(); }
    else if (event.key.startsWith("Arrow") && !typing) move(event);
  });

  const begin = () => {
    $("#theme")?.addEventListener("click", turn);
    for (const form of $$(".filters")) form.addEventListener("submit", (event) => event.preventDefault());
    for (const id of controls) $("#" + id)?.addEventListener("input", filter);
    if ($("#search")) {
      const asked = new URLSearchParams(location.search);
      for (const id of controls) if (asked.has(id) && $("#" + id)) $("#" + id).value = asked.get(id);
      filter();
    }
  };
  begin();
  if (location.hash) open(decodeURIComponent(location.hash.slice(1)));
  addEventListener("hashchange", () => open(decodeURIComponent(location.hash.slice(1))));

  // Served pages follow the store: what is there is replaced, what was asked for stays.
  const live = $('meta[name="wardian-live"]')?.content;
  if (live && window.EventSource) {
    new EventSource(live).addEventListener("change", async () => {
      if (dialog?.open) return;
      const kept = Object.fromEntries(controls.map((id) => [id, value(id)]));
      const focused = document.activeElement?.id;
      const answer = await fetch(location.href.split("#")[0], { cache: "no-store" }).catch(() => null);
      if (!answer?.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      $("#main").replaceChildren(...$("#main", fresh).childNodes);
      $(".top nav").replaceChildren(...$(".top nav", fresh).childNodes);
      begin();
      for (const id of controls) if ($("#" + id)) $("#" + id).value = kept[id];
      if ($("#search")) filter();
      if (focused) document.getElementById(focused)?.focus();
    });
  }
})();
