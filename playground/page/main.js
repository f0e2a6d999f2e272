// The playground: one step, its files, and what can be done with them.
import { fits, load, LONGEST_ADDRESS, packed, save, unpacked } from "./changes.js";
import { Editor } from "./editor.js";
import { ask, onState, SECONDS, startPython, stop } from "./python.js";
import { language, made, say, speak, storage } from "./words.js";

const at = (id) => document.getElementById(id);
const wanted = new URLSearchParams(location.search);
const steps = await (await fetch("steps.json")).json(); // The folder of each step, by number.
const MOST_SHOWN = 100_000; // characters of a transcript

let number, step, changes = {}, busy = false;
const editor = new Editor(at("code"), typed);

speak(document);
document.title = `${say("Playground")} · Mini Agent Harness`;
at("home").href = language === "zh" ? "../zh/" : "../";
at("language").textContent = language === "zh" ? "English" : "中文";
at("language").lang = language === "zh" ? "en" : "zh-CN";
at("language").onclick = () => {
  const other = language === "zh" ? "en" : "zh";
  storage("language", other);
  wanted.set("lang", other);
  location.search = wanted;
};
onState((text, state) => {
  at("python").textContent = text;
  at("python").dataset.state = state;
});
startPython();

// ---- the step and its files

async function choose(chosen) {
  number = Object.hasOwn(steps, chosen) ? chosen : "04";
  step = await (await fetch(`steps/${number}.json`)).json();
  changes = load(number);
  editor.take();
  at("step").value = number;
  at("known").replaceChildren(...step.words.map((value) => made("option", { value })));
  at("sentence").placeholder = step.words[0] ?? "";
  fill(at("task"), step.tasks.map((task) => [task.number, task.title[language]]));
  fill(at("entry"), step.breaks.map((entry) => [entry.name, entry.title[language]]));
  for (const [view, things] of [["check", step.tasks], ["break", step.breaks]]) {
    document.querySelector(`[data-view=${view}]`).hidden = !things.length;
  }
  at("back").hidden = !storage(`playground/${number}/before`);
  showFiles();
  openFile(Object.keys(step.files)[0]);
  clearRun();
  if (step.tasks.length) showTask();
  if (step.breaks.length) showBreak();
}

function fill(select, pairs) {
  select.replaceChildren(...pairs.map(([value, text]) => made("option", { value, textContent: text })));
}

const textOf = (path) => changes[path] ?? step.files[path] ?? "";
const paths = () => [...new Set([...Object.keys(step.files), ...Object.keys(changes)])];
const shortName = (path) => path.replace(`${step.name}/`, "");

function showFiles() {
  const tabs = paths().map((path) => {
    const tab = made("button", { type: "button", textContent: shortName(path), onclick: () => openFile(path) });
    tab.role = "tab";
    tab.dataset.path = path;
    return tab;
  });
  at("files").replaceChildren(...tabs);
  markFiles();
}

function markFiles() {
  for (const tab of at("files").children) {
    const { path } = tab.dataset;
    const chosen = path === editor.path, changed = Object.hasOwn(changes, path);
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    tab.classList.toggle("changed", changed);
    tab.setAttribute("aria-label", changed ? `${tab.textContent} (${say("changed")})` : tab.textContent);
  }
}

function openFile(path) {
  editor.open(path, textOf(path));
  markFiles();
  at("files").querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function typed(path, text) {
  if (text === step.files[path]) delete changes[path];
  else changes[path] = text;
  save(number, changes);
  markFiles();
}

/** Take other changes than those that are there; they can be had back. */
function replaceChanges(others) {
  storage(`playground/${number}/before`, JSON.stringify(changes));
  changes = others;
  save(number, changes);
  const open = editor.path;
  editor.take();
  showFiles();
  openFile(paths().includes(open) ? open : paths()[0]);
  at("back").hidden = false;
}

// ---- tabs: one of them can be reached by Tab, the arrows go from one to the next

function tabs(list, choosing) {
  list.addEventListener("keydown", (event) => {
    const all = [...list.children].filter((tab) => !tab.hidden), here = all.indexOf(document.activeElement);
    const there = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: all.length - 1 }[event.key];
    if (here < 0 || there === undefined) return;
    event.preventDefault();
    const tab = all[(there + all.length) % all.length];
    choosing(tab);
    // The list may have been made again.
    (list.querySelector("[aria-selected=true]") ?? tab).focus();
  });
}

function showView(name) {
  for (const tab of at("views").children) {
    const chosen = tab.dataset.view === name;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    at(`view-${tab.dataset.view}`).hidden = !chosen;
  }
  if (name === "compare") compare();
}

tabs(at("files"), (tab) => openFile(tab.dataset.path));
tabs(at("views"), (tab) => showView(tab.dataset.view));
for (const tab of at("views").children) tab.onclick = () => showView(tab.dataset.view);

// ---- asking Python

/** Python answers one question at a time: show which buttons wait for that. */
function markBusy(now) {
  busy = now;
  for (const button of document.querySelectorAll("#demo, #check, #step, #prediction button")) {
    if (busy) button.setAttribute("aria-disabled", true);
    else button.removeAttribute("aria-disabled");
  }
  at("stop").hidden = !busy;
}

async function asking(what, more = {}, tell = undefined) {
  markBusy(true);
  try {
    return await ask({ what, step: number, changes, language, ...more }, tell);
  } finally {
    markBusy(false);
  }
}

// ---- run

function clearRun() {
  at("screen").textContent = "";
  at("history").replaceChildren();
  at("pairs").textContent = "";
  at("failure").hidden = at("keep-output").hidden = at("trace").hidden = at("to-trace").hidden = true;
}

async function run(sentence) {
  if (busy) return;
  clearRun();
  at("screen").setAttribute("aria-busy", true);
  let shown = 0;
  const tell = ({ screen, history }) => {
    if (screen && shown < MOST_SHOWN) {
      at("screen").append(screen.slice(0, MOST_SHOWN - shown));
      shown += screen.length;
      if (shown >= MOST_SHOWN) at("screen").append(`\n${say("… cut: it printed too much")}\n`);
      at("screen").scrollTop = at("screen").scrollHeight;
    }
    if (history) showHistory(history);
  };
  try {
    const found = await asking("run", { sentence }, tell);
    if (found.history) showHistory(found.history);
    showPairs(found.faults);
    if (found.failure) fail(found.failure, found.where);
    else if (!sentence) offerToKeep(found.transcript);
    await showTrace();
  } catch (error) {
    fail(error.message);
  } finally {
    at("screen").setAttribute("aria-busy", false);
  }
}

function showHistory(text) {
  const lines = text.trimEnd().split("\n").filter(Boolean);
  const list = at("history");
  while (list.children.length > lines.length) list.lastChild.remove();
  lines.forEach((line, place) => {
    if (list.children[place]?.textContent === line) return;
    const [role, ...rest] = line.split(" ");
    const item = made("li", { className: role }, made("b", { textContent: role }), ` ${rest.join(" ")}`);
    if (list.children[place]) list.children[place].replaceWith(item);
    else list.append(item);
  });
  list.scrollTop = list.scrollHeight;
}

function showPairs(faults) {
  if (!faults || !at("history").children.length) return;
  at("pairs").className = faults.length ? "bad" : "good";
  const text = faults.length ? say("What is wrong with this history:") : say("Every call has its result.");
  at("pairs").replaceChildren(text, ...(faults.length ? [made("ul", {}, ...faults.map((textContent) => made("li", { textContent })))] : []));
}

function fail(text, where) {
  const notice = at("failure");
  notice.replaceChildren(text);
  notice.hidden = false;
  if (!where) return;
  const [file, line] = where;
  const path = `${step.name}/${file}`;
  const go = () => {
    openFile(path);
    editor.goTo(line, text);
  };
  notice.append(" ", made("button", { type: "button", textContent: say("Go to {file}, line {line}", { file, line }), onclick: go }));
}

function offerToKeep(transcript) {
  const path = `labs/step${number}/my_output.txt`, button = at("keep-output");
  if (!step.tasks.length) return;
  button.hidden = false;
  button.textContent = say("Keep this output as {file}", { file: path });
  button.onclick = () => {
    changes[path] = transcript;
    save(number, changes);
    showFiles();
    button.textContent = say("Kept as {file}", { file: path });
  };
}

async function showTrace() {
  const page = await asking("trace");
  at("trace").hidden = at("to-trace").hidden = !page;
  // In its sandbox the viewer cannot look up which language was chosen, so it is told.
  const told = `<head><script>Object.defineProperty(navigator, "language", { value: "${language}" })</script>`;
  if (page) at("viewer").srcdoc = page.replace("<head>", () => told);
}

at("demo").onclick = () => run("");
at("stop").onclick = () => stop();
at("say").onsubmit = (event) => {
  event.preventDefault();
  const sentence = at("sentence").value.trim();
  if (sentence) run(sentence);
  else at("sentence").focus();
};

// ---- tasks

const taskNow = () => step.tasks.find((task) => task.number === at("task").value) ?? step.tasks[0];
const progressOf = (task) => JSON.parse(storage(`playground/${number}/task${task.number}`) ?? "{}");

function noteProgress(task, more) {
  storage(`playground/${number}/task${task.number}`, JSON.stringify({ ...progressOf(task), ...more }));
  markTasks();
}

function markTasks() {
  for (const option of at("task").options) {
    const task = step.tasks.find(({ number: own }) => own === option.value);
    option.textContent = `${progressOf(task).done ? "✓ " : ""}${task.title[language]}`;
  }
}

async function showTask() {
  const task = taskNow(), taken = progressOf(task).hints ?? 0;
  markTasks();
  at("verdict").hidden = at("reference").hidden = true;
  showHints(task, taken);
  const address = new URL(`${language === "zh" ? "../zh/" : "../"}${task.page}`, location.href);
  const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
  const sheet = page.querySelector("article");
  for (const part of sheet.querySelectorAll("h1, script, style, nav, .md-button, .headerlink, .md-source-file")) part.remove();
  for (const link of sheet.querySelectorAll("a[href]")) {
    link.href = new URL(link.getAttribute("href"), address).href;
    link.target = "_blank";
  }
  if (taskNow() === task) at("worksheet").replaceChildren(...[...sheet.childNodes].map((node) => document.importNode(node, true)));
}

function showHints(task, taken) {
  const hints = task.hints[language].slice(0, taken);
  at("hints").hidden = !taken;
  at("hints").replaceChildren(...hints.map((textContent) => made("li", { textContent })));
  at("hint").textContent = `${say("Hint")} ${Math.min(taken + 1, task.hints.en.length)}/${task.hints.en.length}`;
  at("hint").disabled = taken >= task.hints.en.length;
}

at("task").onchange = showTask;
at("check").onclick = async () => {
  if (busy) return;
  const task = taskNow(), verdict = at("verdict");
  verdict.hidden = false;
  verdict.className = "";
  verdict.textContent = "…";
  try {
    const { done, lines } = await asking("check", { task: task.number });
    verdict.className = done ? "good" : "bad";
    verdict.textContent = lines.join("\n");
    if (done) noteProgress(task, { done: true });
  } catch (error) {
    verdict.className = "bad";
    verdict.textContent = error.message;
  }
};
at("hint").onclick = () => {
  const task = taskNow(), taken = Math.min((progressOf(task).hints ?? 0) + 1, task.hints.en.length);
  noteProgress(task, { hints: taken });
  showHints(task, taken);
};
at("solution").onclick = async () => {
  const task = taskNow();
  if (!at("reference").hidden) at("reference").hidden = true;
  else if (progressOf(task).done || await sure(say("See the solution before yours is done?"))) {
    showDiff(at("reference"), task.solution);
    at("reference").hidden = false;
  }
};

function showDiff(element, text) {
  const kinds = { "+": "plus", "-": "minus", "@": "place" };
  const lines = text.trimEnd().split("\n").map((line) => made("span", { className: kinds[line[0]] ?? "", textContent: `${line}\n` }));
  element.replaceChildren(...lines);
}

function sure(question) {
  at("question").textContent = question;
  at("sure").returnValue = "no";
  at("sure").showModal();
  return new Promise((resolve) => { at("sure").onclose = () => resolve(at("sure").returnValue === "yes"); });
}

// ---- break it

const entryNow = () => step.breaks.find((entry) => entry.name === at("entry").value) ?? step.breaks[0];

function showBreak() {
  const entry = entryNow(), diff = made("pre", { className: "diff" });
  const signed = (sign, text) => text.replace(/^\n|\n$/g, "").split("\n").filter((line) => text).map((line) => `${sign}${line}\n`).join("");
  showDiff(diff, `${signed("-", entry.old)}${signed("+", entry.new)}`);
  const setting = entry.setting?.[language] ?? say("the demo");
  const questions = entry.questions.map((question, place) => made("label", { className: "question" },
    question.ask[language], made("input", { name: `answer${place}`, autocomplete: "off" })));
  const button = made("button", { className: "strong", textContent: say("See what happens") });
  at("prediction").replaceChildren(made("h2", { textContent: entry.file }), diff,
    made("p", { textContent: say("What is played: {setting}", { setting }) }), ...questions, button);
  markBusy(busy);
  at("broken").replaceChildren();
}

at("entry").onchange = showBreak;
at("prediction").onsubmit = async (event) => {
  event.preventDefault();
  if (busy) return;
  const entry = entryNow(), said = [...at("prediction").querySelectorAll("input")].map((input) => input.value.trim());
  at("broken").replaceChildren("…");
  try {
    const found = await asking("break", { name: entry.name, predictions: said });
    const answers = entry.questions.map((question, place) => made("li", {}, question.ask[language], made("br"),
      ...(said[place] ? [say("you: {said}", { said: said[place] }), found.right[place] ? made("b", { className: "good", textContent: ` ${say("right")}` }) : "", made("br")] : []),
      say("it: {answer}", { answer: question.answer[language] })));
    const diff = made("pre", { className: "diff", tabIndex: 0 });
    showDiff(diff, found.lines.join("\n").trim());
    at("broken").replaceChildren(made("h2", { textContent: say("Your prediction") }), made("ol", {}, ...answers), made("p", { textContent: found.why }),
      diff, made("p", { className: "soft", textContent: say("Nothing of yours is changed: a copy was broken.") }));
    at("broken").dataset.transcript = found.transcript;
    await showTrace();
    if (!at("trace").hidden) at("broken").append(made("a", { href: "#trace", textContent: say("Step through this run ↓") }));
  } catch (error) {
    at("broken").replaceChildren(made("p", { className: "notice", textContent: error.message }));
  }
};

// ---- what the reader has changed

let patch = "";
async function compare() {
  patch = "";
  if (!Object.keys(changes).length) {
    at("diff").textContent = say("You have changed nothing yet.");
    return;
  }
  at("diff").textContent = "…";
  try {
    patch = await asking("compare");
    showDiff(at("diff"), patch);
  } catch (error) {
    at("diff").textContent = error.message;
  }
}

function notice(text) {
  at("shared").textContent = text;
  at("shared").hidden = false;
}

at("download").onclick = async () => {
  await compare();
  if (!patch) return;
  const address = URL.createObjectURL(new Blob([patch], { type: "text/x-patch" }));
  made("a", { href: address, download: `${step.name}.patch` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};
at("open").onchange = async () => {
  const [file] = at("open").files;
  at("open").value = "";
  if (!file) return;
  try {
    const found = await asking("patch", { text: file.size > 1_000_000 ? "" : await file.text() });
    if (found.refused || !Object.keys(found.changes).every((path) => fits(path, number, step.name))) {
      throw new Error(found.refused || say("it names a file outside of the step"));
    }
    replaceChanges(kept(found.changes));
    notice(say("The patch is in: {files}.", { files: Object.keys(found.changes).map(shortName).join(", ") }));
    await compare();
  } catch (error) {
    notice(say("This patch does not fit: {reason}. Nothing was changed.", { reason: error.message }));
  }
};

/** Leave out what is as it was shipped. */
function kept(found) {
  return Object.fromEntries(Object.entries({ ...changes, ...found }).filter(([path, text]) => text !== step.files[path]));
}

at("share").onclick = async () => {
  const hash = `#shared=${await packed(number, changes)}`;
  const address = `${location.origin}${location.pathname}?step=${number}${hash}`;
  if (address.length > LONGEST_ADDRESS) {
    notice(say("This is too much for an address ({size} characters, {most} fit): download it as a patch.", { size: address.length, most: LONGEST_ADDRESS }));
    return;
  }
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address);
    notice(say("The address is copied. It holds your change; no server ever sees it."));
  } catch {
    notice(say("The address in the bar holds your change; no server ever sees it."));
  }
};
at("reset").onclick = async () => {
  if (!Object.keys(changes).length || !await sure(say("Put {step} back as it was shipped? You can take that back.", { step: step.name }))) return;
  replaceChanges({});
  notice(say("{step} is as it was shipped.", { step: step.name }));
  compare();
};
at("back").onclick = () => {
  const before = JSON.parse(storage(`playground/${number}/before`) ?? "{}");
  replaceChanges(before);
  compare();
};

async function openShared() {
  const text = new URLSearchParams(location.hash.slice(1)).get("shared");
  if (text === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    const found = await unpacked(text, steps);
    if (found.step !== number) await choose(found.step);
    if (JSON.stringify(found.changes) === JSON.stringify(changes)) return;
    replaceChanges(found.changes);
    const files = Object.keys(found.changes);
    showView("compare");
    if (files.length) openFile(files[0]);
    notice(say("You see what somebody shared: {files}. Read it before you run it.", { files: files.map(shortName).join(", ") }));
  } catch (error) {
    showView("compare");
    notice(say("This address holds no change that fits here: {reason}. Nothing was opened.", { reason: say(error.message) }));
  }
}

// ---- begin

fill(at("step"), Object.entries(steps).map(([value, name]) => [value, name]));
at("step").onchange = () => choose(at("step").value);
await choose(wanted.get("step") ?? "04");
showView("run");
if (step.tasks.some((task) => task.number === wanted.get("task"))) {
  at("task").value = wanted.get("task");
  showView("check");
  showTask();
}
if (step.breaks.some((entry) => entry.name === wanted.get("break"))) {
  at("entry").value = wanted.get("break");
  showView("break");
  showBreak();
}
await openShared();
addEventListener("hashchange", openShared);
document.documentElement.dataset.ready = "yes";
navigator.serviceWorker?.register("../sw.js").catch(() => {}); // Where there can be none, the network is needed.
