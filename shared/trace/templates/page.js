"use strict";
// Moves through the recorded moments. All text of the run is set as text and never as markup.
const { lanes, walk, parts } = JSON.parse(document.getElementById("data").textContent);
const slider = document.getElementById("slider");
const last = walk.length;
const element = (name, className, text) => {
  const made = document.createElement(name);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

// One lane: the panes of one recording, drawn once and then only changed.
class Lane {
  constructor(root, data) {
    this.data = data;
    this.find = (selector) => root.querySelector(selector);
    this.lines = [...root.querySelectorAll(".line")];
    this.boxes = [...root.querySelectorAll(".box")];
    this.items = data.messages.map((message) => this.item(message));
    this.find("ol").append(...this.items);
    this.history = [];
    this.fresh = [];
    this.lit = [];
    this.findDues();
  }

  item(message) {
    const item = element("li", message.role);
    item.hidden = true;
    const answers = message.answers === null ? "" : ` ${message.answers || '""'} ${message.tool}`;
    item.append(element("span", "role", message.role + answers), element("span", message.is_error ? "error" : "", message.text));
    item.calls = message.calls.map((call) => {
      const line = element("span", "call", `→ ${call.id || '""'} ${call.name} ${call.arguments} `);
      const state = element("span", "state");
      line.append(state);
      item.append(line);
      return { id: call.id, line, state };
    });
    return item;
  }

  show(place, number) {
    const { moments, screen, histories } = this.data;
    const moment = moments[place];
    const before = place > 0 ? moments[place - 1] : null;
    this.find(".old").textContent = screen.slice(0, before ? before.screen : 0);
    this.find(".new").textContent = screen.slice(before ? before.screen : 0, moment.screen);
    this.find(".terminal").scrollTop = 1e9;
    this.showHistory(before ? histories[before.history] : [], histories[moment.history]);
    this.showCalls(place);
    this.showPlace(moment);
    this.find(".event").textContent = describe(moment);
    this.find(".rule").textContent = moment.match_key || moment.rule
      ? `规则 · ${moment.rule}，匹配串 · match key: ${moment.match_key}`
      : "这一轮还没有问过模型 · the model has not been asked in this turn";
    const way = this.find(".way-out");
    way.hidden = !moment.way_out;
    way.textContent = moment.way_out && `→ ${moment.way_out}`;
    this.find(".parted").hidden = parts === null || number < parts;
    return moment;
  }

  showHistory(before, history) {
    for (const item of this.fresh) item.classList.remove("fresh");
    if (history !== this.history) {
      const there = new Set(history);
      for (const n of this.history) if (!there.has(n)) this.items[n].hidden = true;
      for (const n of history) this.items[n].hidden = false;
    }
    this.history = history;
    const old = new Set(before);
    this.fresh = history.filter((n) => !old.has(n)).map((n) => this.items[n]);
    for (const item of this.fresh) item.classList.add("fresh");
    this.find(".count").textContent = `(${history.length})`;
    this.find(".history").scrollTop = 1e9;
  }

  // The result of a call stands among the results right behind its message.
  showCalls(place) {
    const { messages } = this.data;
    this.history.forEach((n, at) => {
      const taken = new Set();
      for (const { id, line, state, due } of this.items[n].calls) {
        let answer = at + 1;
        while (messages[this.history[answer]]?.role === "toolResult" && (messages[this.history[answer]].answers !== id || taken.has(answer))) answer++;
        const answered = messages[this.history[answer]]?.role === "toolResult";
        if (answered) taken.add(answer);
        const unanswered = !answered && due <= place;
        const text = answered ? `→ #${answer + 1}` : unanswered ? "没有结果 · unanswered" : "尚无结果 · no result yet";
        if (state.textContent !== text) state.textContent = text;
        line.classList.toggle("unanswered", unanswered);
      }
    });
  }

  // From its due moment on people have seen a result of the call, or its turn is over.
  findDues() {
    const { moments, histories } = this.data;
    const seen = new Set();
    moments.forEach((moment, place) => {
      if (place > 0 && moments[place - 1].history === moment.history) return;
      for (const n of histories[moment.history]) {
        if (seen.has(n)) continue;
        seen.add(n);
        for (const call of this.items[n].calls) {
          const over = (later) => later.event === "turn_end" || (later.event === "tool_result" && later.call_id === call.id);
          const found = moments.findIndex((later, at) => at >= place && over(later));
          call.due = found === -1 ? Infinity : found;
        }
      }
    });
  }

  showPlace(moment) {
    for (const part of this.lit) {
      part.classList.remove("lit", "left-by");
      part.removeAttribute("aria-current");
    }
    this.lit = this.lines.slice(moment.line - 1, moment.end);
    const source = this.find(".source");
    source.scrollTop = this.lit[0].offsetTop - source.clientHeight / 2;
    const flow = this.find("svg");
    if (moment.box !== null) {
      const box = this.boxes[moment.box];
      this.lit.push(box);
      const pane = this.find(".flow");
      const scale = flow.clientHeight / flow.viewBox.baseVal.height;
      pane.scrollTop = box.querySelector("rect").y.baseVal.value * scale - pane.clientHeight / 2;
      flow.setAttribute("aria-label", `run_agent_loop: ${box.textContent.trim()}`);
    }
    for (const part of this.lit) part.classList.add("lit");
    this.lit[0].setAttribute("aria-current", "step");
    if (moment.out !== null) {
      this.boxes[moment.out].classList.add("left-by");
      this.lit.push(this.boxes[moment.out]);
    }
    this.find(".place").textContent = `: ${moment.line}`;
  }
}

const describe = (moment) => `第 ${moment.run} 句 · sentence ${moment.run}, 第 ${moment.turn} 轮 · turn ${moment.turn}, ${moment.event} ${moment.detail}`;
const views = [...document.querySelectorAll(".lane")].map((root, n) => new Lane(root, lanes[n]));
const turns = [...document.querySelectorAll("#turns option")].map((option) => Number(option.value));
const playButton = document.querySelector('[data-go="play"]');
let now = 0;
let playing = null;
let addressing = null;

function show(number) {
  now = Math.max(1, Math.min(last, Math.trunc(number) || 1));
  const moments = views.map((view, lane) => view.show(walk[now - 1][lane], now));
  const text = describe(moments[0]);
  slider.value = now;
  slider.setAttribute("aria-valuetext", `${now} / ${last}, ${text}`);
  const place = element("b", "", `#${now}`);
  document.getElementById("where").replaceChildren(place, ` / ${last}`, views.length > 1 ? "" : ` · ${text}`);
  if (playing === null) speak(moments);
  // Browsers slow down a page that sets its address many times a second.
  clearTimeout(addressing);
  addressing = setTimeout(() => history.replaceState(null, "", `#${now}`), 120);
}

function speak(moments) {
  const spoken = moments.map((moment, n) => `${describe(moment)}. ${views[n].history.length} 条消息 · messages.`);
  document.getElementById("spoken").textContent = `${now}: ${spoken.join(" ")}`;
}

function play(on) {
  if (!on && playing === null) return;
  clearInterval(playing);
  playing = on ? setInterval(() => (now < last ? show(now + 1) : play(false)), 180) : null;
  playButton.textContent = on ? "⏸ 暂停 · pause" : "▶ 播放 · play";
  if (on && now === last) show(1);
  if (!on) show(now);
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
  if (!name || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  // A focused button takes the space bar itself, and a pane that the keyboard has reached scrolls.
  if (event.key === " " && event.target.closest("button")) return;
  if (event.target.matches?.("[tabindex]:focus-visible")) return;
  event.preventDefault();
  if (name !== "play") play(false);
  go[name]();
});
const addressed = () => Number(location.hash.slice(1)) || 1;
window.addEventListener("hashchange", () => { if (addressed() !== now) show(addressed()); });
const partingButton = document.querySelector('[data-go="parting"]');
if (partingButton && parts === null) {
  partingButton.disabled = true;
  partingButton.textContent = "这次运行看不出差别 · this run shows no difference";
} else if (parts !== null) {
  const fork = document.querySelector(".fork");
  fork.hidden = false;
  // The thumb, 16 pixels wide, stops half its width before each end of the track.
  const share = (parts - 1) / Math.max(1, last - 1);
  fork.style.left = `calc(${share * 100}% + ${8 - 16 * share}px - 1.5px)`;
}
show(addressed());
