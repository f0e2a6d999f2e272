// One lane: the panes of one recording. They are built once; a move changes only what it has to.
class Lane {
  constructor(root, data, number, count) {
    Object.assign(this, data);
    this.root = root;
    this.number = number;
    this.count = count;
    this.part = {};
    for (const name of ["title", "place", "event", "state", "file", "count", "asked", "saved"]) {
      this.part[name] = root.querySelector(`h2 .${name}, h3 .${name}, p.${name}, summary .${name}`);
    }
    this.panes = {};
    for (const name of ["source", "flow", "screen", "history"]) this.panes[name] = root.querySelector(`.body.${name}`);
    this.list = root.querySelector("ol");
    this.disk = root.querySelector(".disk");
    this.entries = root.querySelector(".entries");
    this.readMoments();
    this.readPairs();
    this.buildSpots();
    this.buildScreen();
    this.rows = [];
    this.fresh = [];
    this.entryRows = [];
    this.freshEntries = [];
  }

  get name() {
    if (this.cause) return say("broken: {name}", { name: (inChinese && this.cause.title_zh) || this.cause.title });
    if (this.title) return this.title;
    return say(this.besideBroken ? "as shipped" : "recording {number}", { number: this.number + 1 });
  }

  get shortName() {
    return this.cause ? say("broken") : this.name;
  }

  // The recording says what a moment changes. Here each gets the history and the disk that it leaves.
  readMoments() {
    this.histories = [];
    this.cameWith = new Map();
    this.visits = this.spots.map(() => []);
    let history = [];
    let number = 0;
    let disk = [];
    this.writtenAt = new Map();
    this.moments.forEach((moment, place) => {
      history = history.slice(0, moment.keep).concat(moment.add ?? []);
      for (const message of moment.add ?? []) if (!this.cameWith.has(message)) this.cameWith.set(message, place);
      moment.history ??= number;
      number = moment.history;
      if (number in this.histories) history = this.histories[number];
      else this.histories[number] = history;
      if (moment.kept !== undefined || moment.written) disk = disk.slice(0, moment.kept).concat(moment.written ?? []);
      for (const line of moment.written ?? []) if (!this.writtenAt.has(line)) this.writtenAt.set(line, place);
      moment.disk = disk;
      this.visits[moment.spot].push(place);
    });
  }

  // Pairs of calls and results, as Python found them: for each place, what it is from which history on.
  readPairs() {
    this.results = new Map();
    this.orphaned = new Map();
    this.dues = new Map();
    const note = (map, key, entry) => map.set(key, [...(map.get(key) ?? []), entry]);
    for (const [at, call, from, result] of this.pairs) note(this.results, `${at} ${call}`, [from, result]);
    for (const [at, from, orphan] of this.orphans) note(this.orphaned, at, [from, orphan]);
    for (const [message, call, moment] of this.due) this.dues.set(`${message} ${call}`, moment);
  }

  // The lines that light up for each spot, and its box, if the diagram has one.
  buildSpots() {
    const lines = new Map();
    for (const line of this.panes.source.querySelectorAll(".line")) {
      const { file } = line.dataset;
      if (!lines.has(file)) lines.set(file, []);
      lines.get(file).push(line);
      line.place = lines.get(file).length;
    }
    this.linesOf = lines;
    const boxes = this.panes.flow.querySelectorAll(".box");
    this.shownSpots = this.spots.map(([file, line, end], n) => {
      const own = lines.get(file).slice(line - 1, end);
      const value = element("span", "value");
      own[0].append(value);
      const box = boxes[n];
      for (const part of box ? [...own, box] : own) {
        part.spot = n;
        part.classList.toggle("never", this.visits[n].length === 0);
      }
      if (box) box.title = box.querySelector(".words").textContent;
      const words = own.map((part) => part.querySelector("code").textContent.trim()).join(" ");
      return { lines: own, words, value, box, boxValue: box?.querySelector(".value"), boxVisits: box?.querySelector(".visits"), times: 0 };
    });
    this.lit = [];
    if (!this.visits.slice(0, boxes.length).some((visits) => visits.length)) {
      this.root.querySelector("h3 small").dataset.say = boxes.length ? "the loop never began" : "no loop in this source";
    }
  }

  // Each line of the screen is a block of its own, so that a move lays out one line and not all.
  buildScreen() {
    this.printed = [];
    this.screenRows = [];
    let row = null;
    let block = null;
    this.moments.forEach((moment, place) => {
      for (const piece of moment.screen ?? []) {
        const text = typeof piece === "number" ? this.messages[piece].text ?? "" : piece;
        for (const part of text.match(/[^\n]*\n|[^\n]+/g) ?? []) {
          if (row === null) {
            if (this.screenRows.length % 16 === 0) this.panes.screen.append(block = element("div", "block"));
            block.append(row = element("div", "row"));
            this.screenRows.push(row);
          }
          const span = element("span", "piece", part);
          span.hidden = true;
          span.place = place;
          row.append(span);
          this.printed.push(span);
          if (part.endsWith("\n")) row = null;
        }
      }
    });
    this.shown = 0;
  }

  // Says what depends on the language, and does not change from move to move.
  drawTexts() {
    set(this.part.title, this.count > 1 ? this.name : "");
    const titles = { source: "source", flow: "diagram", screen: "what people see", history: "what the model sees" };
    for (const [name, title] of Object.entries(titles)) {
      this.panes[name].setAttribute("aria-label", this.count > 1 ? `${say(title)}: ${this.name}` : say(title));
    }
    this.root.querySelector(".tools").replaceChildren(...this.toolSpecs());
    this.entries?.setAttribute("aria-label", this.count > 1 ? `${say("the session file")}: ${this.name}` : say("the session file"));
    for (const row of this.rows.splice(0)) row.item.remove();
  }

  toolSpecs() {
    if (this.tools.length === 0) return [];
    return [element("h4", "", say("the tools it is told of")), ...this.tools.map((tool) => {
      const spec = element("details");
      const summary = element("summary");
      summary.append(element("code", "", tool.name), ` ${tool.description}`);
      spec.append(summary, element("pre", "", indented(tool.parameters)));
      return spec;
    })];
  }

  // Tints what differs from the other lane: lines of the source, the first message, the first line.
  mark({ message, row, changed }) {
    this.differs = message?.[this.number] ?? undefined;
    for (const [file, line] of changed?.[this.number] ?? []) this.linesOf.get(file)[line - 1].classList.add("changed");
    if (row) this.screenRows[row[this.number]]?.classList.add("differs");
  }

  // Shows the moment at `place`; what came after the one at `before` is new.
  show(place, before, { parted, waits }) {
    const moment = this.moments[place];
    this.now = place;
    this.showSpot(moment, place);
    this.showScreen(place, before);
    this.showHistory(this.histories[moment.history], before < 0 ? [] : this.histories[this.moments[before].history]);
    this.showPairs(moment, place);
    if (this.disk) this.showDisk(moment.disk, before < 0 ? [] : this.moments[before].disk);
    const ended = waits && place === this.moments.length - 1;
    this.root.classList.toggle("ended", ended);
    this.root.classList.toggle("waits", waits);
    this.root.classList.toggle("parted", parted);
    const failed = !["", "no tool wanted", "interrupted"].includes(moment.ending ?? "");
    this.part.state.className = `state${failed ? " failed" : ""}`;
    const states = [moment.ending && say(moment.ending), ended ? say("ended") : waits && say("waits for the other")];
    set(this.part.state, states.filter(Boolean).join(" · "));
    set(this.part.place, this.whereabouts(moment));
    set(this.part.event, [moment.event, moment.detail].filter(Boolean).join(" "));
    this.showAsk(moment);
  }

  // The statement and what decided it, for those who hear the page.
  get statement() {
    const { words, value } = this.shownSpots[this.moments[this.now].spot];
    return `${shortened(words)} ${value.textContent}`.trim();
  }

  whereabouts(moment) {
    return moment.turn ? say("sentence {run}, turn {turn}", moment) : say("sentence {run}", moment);
  }

  showSpot(moment, place) {
    for (const part of this.lit) {
      part.classList.remove("lit");
      part.removeAttribute("aria-current");
    }
    this.visits.forEach((visits, n) => this.showVisits(this.shownSpots[n], visits, place));
    const { lines, box } = this.shownSpots[moment.spot];
    this.lit = box ? [...lines, box] : lines;
    for (const part of this.lit) part.classList.add("lit");
    lines[0].setAttribute("aria-current", "step");
    const [file, line] = this.spots[moment.spot];
    set(this.part.file, `${file}:${line}`);
  }

  // How often a statement has run by now, and what its test gave the last time.
  showVisits(spot, visits, place) {
    const times = countUpTo(visits, place);
    if (times === spot.times) return;
    spot.times = times;
    const value = times > 0 ? this.moments[visits[times - 1]].value ?? "" : "";
    set(spot.value, value && `→ ${value}`);
    if (spot.box) {
      set(spot.boxValue, value);
      set(spot.boxVisits, times > 0 ? `×${times}` : "");
    }
  }

  showScreen(place, before) {
    const { printed } = this;
    while (this.shown < printed.length && printed[this.shown].place <= place) printed[this.shown++].hidden = false;
    while (this.shown > 0 && printed[this.shown - 1].place > place) printed[--this.shown].hidden = true;
    for (const span of this.freshPieces ?? []) span.classList.remove("new");
    this.freshPieces = [];
    for (let n = this.shown - 1; n >= 0 && printed[n].place > before; n--) {
      printed[n].classList.add("new");
      this.freshPieces.push(printed[n]);
    }
  }

  // Only the messages behind those that stay are made again.
  showHistory(history, before) {
    refill(this.list, this.rows, history, (message) => this.row(message));
    this.fresh = renewed(this.fresh, this.rows, commonLength(before, history));
    set(this.part.count, say("messages: {count}", { count: history.length }));
  }

  row(place) {
    const message = this.messages[place];
    const item = element("li", message.role);
    const head = element("div", "head");
    head.append(element("span", "role", message.role));
    item.append(head);
    item.message = place;
    if (message.answers !== undefined) head.append(element("code", "", ` ${message.answers || '""'} ${message.tool ?? ""}`));
    if (message.is_error) head.append(element("span", "badge failed", say("error")));
    const orphan = element("span", "badge failed");
    head.append(orphan);
    const saved = element("span", "kept");
    if (this.disk) head.prepend(saved); // It floats: so it stays in the first line of a long head.
    if (place === this.differs) {
      item.classList.add("differs");
      head.append(element("span", "badge differs-badge", say("first difference")));
    }
    if (message.text) item.append(element("div", "text", message.text));
    const calls = (message.calls ?? []).map((call) => {
      const line = element("div", "call", `→ ${call.id || '""'} ${call.name} ${call.arguments} `);
      const state = element("span", "badge");
      line.append(state);
      item.append(line);
      return state;
    });
    return { place, item, orphan, saved, calls };
  }

  // What is in the session file, and which messages would be lost if the power went now.
  showDisk(disk, before) {
    refill(this.entries, this.entryRows, disk, (line) => this.entryRow(line));
    this.freshEntries = renewed(this.freshEntries, this.entryRows, commonLength(before, disk));
    set(this.part.saved, say("lines on disk: {count}", { count: disk.length }));
    const ids = new Set(disk.map((line) => this.lines[line].id));
    const inMemory = new Set(this.rows.map(({ place }) => this.messages[place].entry ?? null));
    for (const { place, saved } of this.rows) {
      const isSaved = ids.has(this.messages[place].entry ?? null);
      set(saved, say(isSaved ? "on disk" : "in memory only"));
      saved.classList.toggle("lost", !isSaved);
    }
    for (const { place, item } of this.entryRows) item.classList.toggle("pale", !inMemory.has(this.lines[place].id));
  }

  entryRow(place) {
    const { kind = "", id, parent, text = "" } = this.lines[place];
    const item = element("div", "entry");
    const link = id === undefined ? "" : parent === undefined ? `${id} ` : `${id} ← ${parent} `;
    item.append(element("span", "link", link), element("span", "role", kind), ` ${text}`);
    item.title = item.textContent;
    item.written = place;
    return { place, item };
  }

  showPairs(moment, place) {
    this.rows.forEach(({ place: message, orphan, calls }, at) => {
      const lost = lastUpTo(this.orphaned.get(at), moment.history);
      set(orphan, lost ? say("result without a call") : "");
      calls.forEach((state, n) => {
        const result = lastUpTo(this.results.get(`${at} ${n}`), moment.history);
        const due = this.dues.get(`${message} ${n}`) <= place;
        state.classList.toggle("failed", result === null && due);
        set(state, result !== null ? say("result: {number}", { number: result + 1 }) : say(due ? "no result" : "no result yet"));
      });
    });
  }

  showAsk(moment) {
    if (moment.ask === undefined) return set(this.part.asked, say("not asked yet in this turn"));
    const { key, rule } = this.asks[moment.ask];
    const text = key.map((piece) => (typeof piece === "number" ? this.messages[piece].text : piece)).join("");
    const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    set(this.part.asked, say("asked on {key}: {rule}", { key: JSON.stringify(shown), rule: ruleInWords(rule) }));
  }

  // Scrolls each pane to where something happened. It reads the layout, so all lanes write before.
  targets() {
    const spot = this.shownSpots[this.moments[this.now].spot];
    const news = this.fresh.find((item) => item.matches(".differs")) ?? this.fresh[0] ?? this.rows.at(-1)?.item;
    return [
      [this.panes.source, spot.lines[0], spot.lines.at(-1)],
      [this.panes.flow, spot.box, spot.box],
      [this.panes.screen, this.printed[this.shown - 1]?.parentElement, this.printed[this.shown - 1]?.parentElement],
      [this.panes.history, news, this.rows.at(-1)?.item],
      ...(this.disk ? [[this.entries, this.freshEntries[0] ?? this.entryRows.at(-1)?.item, this.entryRows.at(-1)?.item]] : []),
    ];
  }

  // The faults of the last history, as its pairs say it.
  faults() {
    const last = this.moments.at(-1).history;
    const found = [];
    this.histories[last].forEach((place, at) => {
      const message = this.messages[place];
      (message.calls ?? []).forEach((call, n) => {
        if (lastUpTo(this.results.get(`${at} ${n}`), last) === null) found.push(say("call {id} has no result", { id: call.id || '""' }));
      });
      if (lastUpTo(this.orphaned.get(at), last)) {
        found.push(say("result {id} ({tool}) has no call", { id: message.answers || '""', tool: message.tool ?? "" }));
      }
    });
    return found;
  }

  // The moment at which something that was clicked on happened: the next one, or else the first.
  momentOf(target) {
    const part = target.closest(".line, .box, .piece, .entry, li");
    if (part?.spot !== undefined) return this.visits[part.spot].find((place) => place > this.now) ?? this.visits[part.spot][0];
    if (part?.place !== undefined && part.matches(".piece")) return part.place;
    if (part?.written !== undefined) return this.writtenAt.get(part.written);
    return part?.message === undefined ? undefined : this.cameWith.get(part.message);
  }
}

// The name of a rule, as the recorder gives it; a file from elsewhere may say something else.
function ruleInWords(rule) {
  const [, number, match] = rule.match(/^rule (\d+) \((.*)\)$/s) ?? [];
  if (!number) return rule === "no rule" ? say("no rule") : rule;
  return match === "the fallback" ? say("rule {number} (the fallback)", { number }) : say("rule {number} ({match})", { number, match });
}

function indented(json) {
  try { return JSON.stringify(JSON.parse(json), null, 2); } catch { return json; }
}

// Sets a text only if it is another one: most texts stay from move to move.
function set(part, text) {
  if (part.textContent !== text) part.textContent = text;
}

// Only the rows behind those that stay are made again.
function refill(list, rows, places, make) {
  const same = commonLength(rows.map((row) => row.place), places);
  for (const row of rows.splice(same)) row.item.remove();
  for (const place of places.slice(same)) {
    const row = make(place);
    list.append(row.item);
    rows.push(row);
  }
}

// Marks the rows from a place on as new, and those that were so before no more.
function renewed(before, rows, from) {
  for (const item of before) item.classList.remove("new");
  const items = rows.slice(from).map((row) => row.item);
  for (const item of items) item.classList.add("new");
  return items;
}

function commonLength(one, other) {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length++;
  return length;
}

function countUpTo(places, place) {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Of entries [from, value], the value of the last one that has begun; null if none has.
function lastUpTo(entries, now) {
  return entries?.findLast(([from]) => from <= now)?.[1] ?? null;
}
