"use strict";
// Moves through the recorded moments. All text of the run is set as text and never as markup.
const { lanes, parts } = JSON.parse(document.getElementById("data").textContent);
const slider = document.getElementById("slider");
const last = Number(slider.max);
const element = (name, className, text) => {
  const made = document.createElement(name);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

// One lane: the panes of one recording, drawn once and then only changed.
class Lane {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.find = (selector) => root.querySelector(selector);
    this.lines = [...root.querySelectorAll(".line")];
    this.boxes = [...root.querySelectorAll(".box")];
    this.items = [];
    this.calls = [];
    const list = this.find("ol");
    data.messages.forEach((message, index) => list.append(this.item(message, index)));
    this.lit = [];
    this.fresh = [];
    this.shown = 0;
  }

  item(message, index) {
    const item = element("li", message.role);
    item.hidden = true;
    const answers = message.answers === null ? "" : ` ${message.answers || '""'} ${message.tool}`;
    item.append(element("span", "role", message.role + answers), element("span", message.is_error ? "error" : "", message.text));
    const taken = new Set();
    for (const call of message.calls) {
      const line = element("span", "call", `→ ${call.id || '""'} ${call.name} ${JSON.stringify(call.arguments)} `);
      const state = element("span", "state");
      line.append(state);
      item.append(line);
      const answered = this.answer(call, index, taken);
      this.calls.push({ line, state, asked: index, answered, due: this.due(call, index) });
    }
    this.items.push(item);
    return item;
  }

  // The result of a call stands among the results right behind its message.
  answer(call, index, taken) {
    for (let n = index + 1; n < this.data.messages.length && this.data.messages[n].role === "toolResult"; n++) {
      if (this.data.messages[n].answers === call.id && !taken.has(n)) {
        taken.add(n);
        return n;
      }
    }
    return Infinity;
  }

  // From this moment on people have seen a result of the call, or its turn is over.
  due(call, index) {
    const { moments } = this.data;
    const asked = moments.findIndex((moment) => moment.messages > index);
    const shown = `${call.id} ${call.name} `;
    const over = (moment) => moment.event === "turn_end" || (moment.event === "tool_result" && moment.detail.startsWith(shown));
    return moments.findIndex((moment, n) => n >= asked && over(moment));
  }

  show(number) {
    const { moments, screen } = this.data;
    const place = Math.min(number, moments.length) - 1;
    const moment = moments[place];
    const before = place > 0 ? moments[place - 1] : { screen: 0, messages: 0 };
    this.find(".old").textContent = screen.slice(0, before.screen);
    this.find(".new").textContent = screen.slice(before.screen, moment.screen);
    this.find(".terminal").scrollTop = 1e9;
    this.showHistory(before.messages, moment.messages, place);
    this.showPlace(moment);
    this.find(".rule").textContent = moment.match_key
      ? `规则 · rule ${moment.rule}，匹配串 · match key: ${moment.match_key}`
      : "还没有问过模型 · the model has not been asked yet";
    const way = this.find(".way-out");
    way.hidden = !moment.way_out;
    way.textContent = moment.way_out && `→ ${moment.way_out}`;
    this.find(".parted").hidden = parts === null || number < parts;
    return moment;
  }

  showHistory(before, count, place) {
    for (let n = Math.min(this.shown, count); n < Math.max(this.shown, count); n++) this.items[n].hidden = n >= count;
    for (const item of this.fresh) item.classList.remove("fresh");
    this.fresh = this.items.slice(before, count);
    for (const item of this.fresh) item.classList.add("fresh");
    for (const { line, state, answered, due } of this.calls) {
      const waiting = answered >= count;
      const unanswered = waiting && due !== -1 && place >= due;
      state.textContent = !waiting ? `→ #${answered + 1}` : unanswered ? "没有结果 · unanswered" : "尚无结果 · no result yet";
      line.classList.toggle("unanswered", unanswered);
    }
    this.shown = count;
    this.find(".count").textContent = `(${count})`;
    this.find(".history").scrollTop = 1e9;
  }

  showPlace(moment) {
    for (const part of this.lit) part.classList.remove("lit", "left-by");
    const lines = this.lines.slice(moment.line - 1, moment.end);
    this.lit = [...lines, this.boxes[moment.box]];
    for (const part of this.lit) part.classList.add("lit");
    if (moment.out !== null) {
      this.boxes[moment.out].classList.add("left-by");
      this.lit.push(this.boxes[moment.out]);
    }
    this.find(".place").textContent = `: ${moment.line}`;
    const source = this.find(".source");
    source.scrollTop = lines[0].offsetTop - source.clientHeight / 2;
    const flow = this.find(".flow");
    const box = this.boxes[moment.box].querySelector("rect");
    const scale = this.find("svg").clientHeight / this.find("svg").viewBox.baseVal.height;
    flow.scrollTop = box.y.baseVal.value * scale - flow.clientHeight / 2;
  }
}

const views = [...document.querySelectorAll(".lane")].map((root, n) => new Lane(root, lanes[n]));
const longest = lanes.reduce((a, b) => (b.moments.length > a.moments.length ? b : a)).moments;
const turns = longest.flatMap((moment, n) => (moment.event === "turn_start" ? [n + 1] : []));
let now = 0;
let playing = null;
let addressing = null;

function show(number) {
  now = Math.max(1, Math.min(last, number));
  const moments = views.map((view) => view.show(now));
  const moment = longest[now - 1];
  const text = `第 ${moment.run} 句 · sentence ${moment.run}, 第 ${moment.turn} 轮 · turn ${moment.turn}, ${moment.event} ${moment.detail}`;
  slider.value = now;
  slider.setAttribute("aria-valuetext", `${now} / ${last}, ${text}`);
  document.getElementById("where").replaceChildren(element("b", "", `#${now}`), ` / ${last} · ${text}`);
  if (playing === null) document.getElementById("spoken").textContent = `${now}: ${text}. ${moments.map((m) => m.messages).join(" / ")} messages`;
  // Browsers slow down a page that sets its address many times a second.
  clearTimeout(addressing);
  addressing = setTimeout(() => history.replaceState(null, "", `#${now}`), 120);
}

function play(on) {
  clearInterval(playing);
  playing = on ? setInterval(() => (now < last ? show(now + 1) : play(false)), 180) : null;
  const button = document.querySelector('[data-go="play"]');
  button.setAttribute("aria-pressed", String(on));
  button.textContent = on ? "⏸ 暂停 · pause" : "▶ 播放 · play";
}

const go = {
  first: () => show(1),
  last: () => show(last),
  on: () => show(now + 1),
  back: () => show(now - 1),
  "turn-on": () => show(turns.find((n) => n > now) ?? last),
  "turn-back": () => show(turns.findLast((n) => n < now) ?? 1),
  parting: () => show(parts),
  play: () => play(playing === null),
};
const keys = { ArrowRight: "on", ArrowLeft: "back", Home: "first", End: "last", PageDown: "turn-on", PageUp: "turn-back", " ": "play" };

for (const button of document.querySelectorAll("[data-go]")) {
  button.addEventListener("click", () => {
    if (button.dataset.go !== "play") play(false);
    go[button.dataset.go]();
  });
}
slider.addEventListener("input", () => { play(false); show(Number(slider.value)); });
document.addEventListener("keydown", (event) => {
  const name = keys[event.key];
  if (!name || event.ctrlKey || event.metaKey || event.altKey) return;
  // A focused button takes the space bar itself.
  if (event.key === " " && event.target.closest("button")) return;
  event.preventDefault();
  if (name !== "play") play(false);
  go[name]();
});
const addressed = () => Number(location.hash.slice(1)) || 1;
window.addEventListener("hashchange", () => { if (addressed() !== now) show(addressed()); });
if (parts !== null) {
  document.querySelector('[data-go="parting"]').hidden = false;
  const fork = document.querySelector(".fork");
  fork.hidden = false;
  // The thumb, 16 pixels wide, stops half its width before each end of the track.
  const share = (parts - 1) / Math.max(1, last - 1);
  fork.style.left = `calc(${share * 100}% + ${8 - 16 * share}px - 1.5px)`;
}
show(addressed());
