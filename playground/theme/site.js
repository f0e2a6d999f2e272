// The switch of language stays on the page, and what was chosen holds for the next visit.
const here = location.pathname;
const home = new URL(document.querySelector("a.md-logo")?.href ?? "./", location.href).pathname;
const chinese = document.documentElement.lang.startsWith("zh");
const top_ = chinese ? home.replace(/zh\/$/, "") : home;
const page = here.slice(home.length);
for (const link of document.querySelectorAll("a.md-select__link")) {
  link.href = `${link.hreflang === "zh" ? `${top_}zh/` : top_}${page}${location.hash}`;
  link.addEventListener("click", () => localStorage.setItem("language", link.hreflang));
}
const chosen = localStorage.getItem("language");
const came_from_here = document.referrer.startsWith(location.origin);
if (!came_from_here && chosen === "zh" && !chinese) location.replace(`${top_}zh/${page}${location.hash}`);

// A page of code is the same in both languages, and so it is stored once.
for (const part of document.querySelectorAll("[data-same-as]")) {
  const text = await (await fetch(part.dataset.sameAs)).text();
  const same = new DOMParser().parseFromString(text, "text/html").querySelector("article");
  for (const title of same.querySelectorAll("h1")) title.remove();
  part.replaceChildren(...same.childNodes);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
