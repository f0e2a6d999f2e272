// Moves through the steps of the walk: each says at which of its moments every lane stands.
const data = JSON.parse(document.getElementById("data").textContent);
const { walk, parts } = data;
const last = walk.length;
const lanes = [...document.querySelectorAll(".lane")].map((root, n) => new Lane(root, data.lanes[n], n, data.lanes.length));
const prediction = new Prediction(lanes, data);
const slider = document.getElementById("slider");
const units = [...document.querySelectorAll("[name=unit]")];
let now = 1;
let unit = storage.get("unit") ?? "statement";
let eachPiece = false;
let playing = null;

if (prediction.cause) for (const lane of lanes) lane.besideBroken = !lane.cause;

// Where each lane's moments stand in the walk, and where it stops for each unit of moving.
const steps = lanes.map(() => []);
const stops = {};
walk.forEach((places, n) => {
  const before = n > 0 ? walk[n - 1] : lanes.map(() => -1);
  const moved = lanes.filter((lane, at) => places[at] !== before[at]);
  const some = (test) => moved.some((lane) => {
    const at = lane.number;
    return test(lane.moments[places[at]], lane.moments[before[at]] ?? { run: 0, turn: 0, history: 0 });
  });
  for (const lane of moved) steps[lane.number][places[lane.number]] = n + 1;
  const tests = {
    statement: (moment) => !moment.folded,
    event: (moment) => moment.event && !moment.folded,
    "each statement": () => true,
    "each event": (moment) => moment.event,
    message: (moment, old) => moment.history !== old.history,
    turn: (moment, old) => moment.turn > 0 && (moment.turn !== old.turn || moment.run !== old.run),
    sentence: (moment, old) => moment.run !== old.run,
  };
  for (const [name, test] of Object.entries(tests)) {
    stops[name] ??= [];
    if (some(test)) stops[name].push(n + 1);
  }
});
const stepOf = (lane, place) => steps[lane.number][place];

// The pieces of a streamed text count as one move, unless each is asked for.
const stopsOf = (name) => (eachPiece && stops[`each ${name}`]) || stops[name];
const next = (name) => stopsOf(name)[countUpTo(stopsOf(name), now)] ?? last;
const previous = (name, from = now) => stopsOf(name)[countUpTo(stopsOf(name), from - 1) - 1] ?? 1;

function show(number) {
  const to = Math.max(1, Math.min(last, Math.trunc(number) || 1));
  now = to;
  // New is what came since the stop before.
  const since = to > 1 ? walk[Math.max(previous(unit, to), 1) - 1] : lanes.map(() => -1);
  lanes.forEach((lane, n) => {
    const place = walk[to - 1][n];
    lane.show(place, since[n], { parted: parts !== null && to >= parts, waits: to > 1 && walk[to - 2][n] === place });
  });
  slider.value = to;
  set(document.getElementById("where"), `#${to} / ${last}`);
  if (playing === null) speak();
  scroll();
  keepAddress();
}

// Brings what happened into view, without a jump if it is in view already: a line or a box to the
// middle of its pane, what is new on the screen and in the history to the lower end.
function scroll() {
  const moves = lanes.flatMap((lane) => lane.targets()).map(([pane, first, end]) => {
    const height = pane.clientHeight;
    if (!first || height === 0) return [pane, pane.scrollTop];
    const zero = pane.getBoundingClientRect().top - pane.scrollTop;
    const top = first.getBoundingClientRect().top - zero;
    const bottom = end.getBoundingClientRect().bottom - zero;
    const isText = pane.matches(".screen, .history, .entries");
    const margin = isText ? 4 : Math.min(60, height / 5);
    if (top >= pane.scrollTop + margin && bottom <= pane.scrollTop + height - margin) return [pane, pane.scrollTop];
    return [pane, Math.min(top - 4, isText ? bottom + 8 - height : (top + bottom - height) / 2)];
  });
  for (const [pane, top] of moves) pane.scrollTop = top;
}

function speak() {
  const spoken = lanes.map((lane) => {
    const [place, ...more] = ["place", "event", "count", "saved", "state"].map((name) => lane.part[name]?.textContent);
    const name = lanes.length > 1 ? `${lane.shortName}: ` : "";
    return name + [place, lane.statement, ...more].filter(Boolean).join(", ");
  });
  document.getElementById("spoken").textContent = `#${now}. ${spoken.join(". ")}`;
  slider.setAttribute("aria-valuetext", `#${now}. ${spoken.join(". ")}`);
}

// Small moves stay in one entry of the browser's history, and a jump makes a new one: so Back undoes
// a jump. Browsers slow down a page that sets its address many times a second.
let addressing = null;
let entries = 0;
function keepAddress() {
  clearTimeout(addressing);
  addressing = setTimeout(() => {
    if (location.hash !== `#${now}` && (location.hash || now > 1)) history.replaceState(null, "", `#${now}`);
  }, 120);
}

function remember() {
  clearTimeout(addressing);
  history.replaceState(null, "", `#${now}`);
  history.pushState(null, "", `#${now}`);
  entries++;
}

// Goes to a step, unless the questions have to be asked first.
function move(to) {
  if (prediction.stops(now, to)) {
    play(false);
    show(Math.max(1, parts - 1));
    prediction.open();
    return;
  }
  if (entries === 0) remember();
  show(to);
}

function jump(to) {
  if (to === undefined || to === now) return;
  if (!prediction.stops(now, to)) remember();
  move(to);
}

function play(on) {
  clearInterval(playing);
  playing = on ? setInterval(() => (now < last ? move(next(unit)) : play(false)), 400) : null;
  const button = document.querySelector('[data-go="play"]');
  button.textContent = on ? "❚❚" : "▶▶";
  button.dataset.label = on ? "pause" : "play";
  button.setAttribute("aria-label", say(button.dataset.label));
  if (on && now === last) show(1);
}

const go = {
  first: () => jump(1),
  last: () => jump(last),
  on: () => move(next(unit)),
  back: () => move(previous(unit)),
  "message-on": () => move(next("message")),
  "message-back": () => move(previous("message")),
  "turn-on": () => move(next("turn")),
  "turn-back": () => move(previous("turn")),
  play: () => play(playing === null),
};
const keys = {
  ArrowRight: "on", ArrowLeft: "back", ArrowDown: "message-on", ArrowUp: "message-back",
  PageDown: "turn-on", PageUp: "turn-back", Home: "first", End: "last", " ": "play",
};

// A pane that was reached with Tab scrolls by these keys; one that was clicked on does not. Only the
// arrows to the left and right move always.
let reachedWithTab = false;
addEventListener("pointerdown", () => { reachedWithTab = false; });
addEventListener("keydown", (event) => { if (event.key === "Tab") reachedWithTab = true; }, true);

document.addEventListener("keydown", (event) => {
  const name = keys[event.key];
  if (!name || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || prediction.dialog.open) return;
  const sideways = event.key === "ArrowRight" || event.key === "ArrowLeft";
  if (!sideways && reachedWithTab && event.target.matches?.(".body, .entries")) return;
  if (event.target.matches?.("[name=unit]") && event.key.startsWith("Arrow") && !sideways) return;
  // A focused button takes the space bar itself.
  if (event.key === " " && event.target.closest?.("button, summary, input")) return;
  event.preventDefault();
  if (name !== "play") play(false);
  go[name]();
});

for (const button of document.querySelectorAll("[data-go]")) {
  button.addEventListener("click", () => {
    if (button.dataset.go !== "play") play(false);
    go[button.dataset.go]();
  });
}
slider.addEventListener("input", () => { play(false); move(Number(slider.value)); slider.value = now; });
for (const input of units) {
  input.addEventListener("change", () => { unit = input.value; storage.set("unit", unit); show(now); });
}
document.getElementById("pieces").addEventListener("click", ({ currentTarget }) => {
  eachPiece = !eachPiece;
  currentTarget.setAttribute("aria-pressed", eachPiece);
  show(now);
});

// A click on a line, a box, a message, an entry or a piece of the screen goes to its moment. Who
// selects a text to copy it does not want to go anywhere.
for (const lane of lanes) {
  lane.root.addEventListener("click", (event) => {
    if (!getSelection().isCollapsed || event.target.closest("summary, .tools")) return;
    const place = lane.momentOf(event.target);
    if (place !== undefined) { play(false); jump(stepOf(lane, place)); }
  });
}

// Who looks into one session file looks into that of the other lane, too.
for (const { disk } of lanes) {
  disk?.addEventListener("toggle", () => {
    for (const lane of lanes) lane.disk.open = disk.open;
    scroll();
  });
}

// On a small window one kind of pane is shown at a time, for all lanes.
const main = document.querySelector("main");
const tabs = [...document.querySelectorAll(".tabs button")];
function showKind(kind) {
  main.dataset.kind = kind;
  for (const tab of tabs) tab.setAttribute("aria-pressed", tab.dataset.kind === kind);
  scroll();
}
for (const tab of tabs) tab.addEventListener("click", () => showKind(tab.dataset.kind));
addEventListener("resize", scroll);

const askButton = document.getElementById("ask");
askButton.hidden = !prediction.cause;
askButton.addEventListener("click", () => { play(false); prediction.open(); });

function nameParts() {
  document.getElementById("language").textContent = inChinese ? "English" : "中文";
  document.getElementById("language").lang = inChinese ? "en" : "zh-CN";
  askButton.textContent = say(prediction.answers === null ? "predict" : "what broke");
  for (const lane of lanes) lane.drawTexts();
}

document.getElementById("language").addEventListener("click", () => {
  inChinese = !inChinese;
  storage.set("language", inChinese ? "zh" : "en");
  draw();
});

function draw() {
  sayAll();
  nameParts();
  show(now);
}

slider.max = last;
for (const input of units) input.checked = input.value === unit;
if (parts !== null) {
  const fork = document.getElementById("fork");
  fork.hidden = false;
  // The thumb, 16 pixels wide, stops half its width before each end of the track.
  const share = (parts - 1) / Math.max(1, last - 1);
  fork.style.left = `calc(${share * 100}% + ${8 - 16 * share}px - 1.5px)`;
  for (const lane of lanes) lane.mark(data);
}
const addressed = () => Number(location.hash.slice(1)) || 1;
addEventListener("popstate", () => { clearTimeout(addressing); if (addressed() !== now) show(addressed()); });
now = Math.max(1, Math.min(last, Math.trunc(addressed())));
draw();
showKind("history");
// Two runs may part at once. An address says where to go, and so there is nothing to ask.
if (!location.hash && prediction.stops(0, now)) prediction.open();
