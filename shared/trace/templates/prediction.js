// A prediction before the runs part, and what broke afterwards.
class Prediction {
  constructor(lanes, data) {
    this.lanes = lanes;
    this.data = data;
    this.cause = lanes.find((lane) => lane.cause)?.cause;
    this.dialog = document.getElementById("prediction");
    this.answers = null;
    this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) this.dialog.close(); });
  }

  // Whether a move from one step to another has to stop for the questions.
  stops(from, to) {
    return this.cause && this.answers === null && from < this.data.parts && to >= this.data.parts;
  }

  open() {
    this.draw();
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
  }

  draw() {
    const asking = this.answers === null;
    // Two runs that part at once would show the answers.
    this.dialog.classList.toggle("hides", asking && this.data.parts === 1);
    const title = element("h2", "", say(asking ? "first predict, then see" : "what broke, and why"));
    title.id = "prediction-title";
    const close = element("button", "close", "×");
    close.type = "button";
    close.setAttribute("aria-label", say("close"));
    close.addEventListener("click", () => this.dialog.close());
    this.dialog.replaceChildren(title, close, ...this.change(), ...(asking ? [this.form()] : this.answer()));
  }

  change() {
    const words = this.answers !== null ? "What was changed:"
      : this.data.parts === null ? "The two runs do not part. This was changed, and nothing that happened came past it:"
      : this.data.parts === 1 ? "The two runs part at once. This was changed:"
      : "Soon the two runs part. This was changed:";
    const diff = element("pre", "diff");
    diff.lang = "en";
    diff.append(element("span", "name", this.cause.file));
    for (const line of this.cause.diff) diff.append(element("span", { "+": "plus", "-": "minus" }[line[0]] ?? "", line));
    const setting = this.text(this.cause, "setting");
    const scene = setting ? [element("p", "setting", say("What is played: {setting}", { setting }))] : [];
    return [...scene, element("p", "", say(words)), diff];
  }

  text(of, name) {
    return (inChinese && of[`${name}_zh`]) || of[name];
  }

  form() {
    const form = element("form");
    form.method = "dialog";
    for (const [n, question] of (this.cause.questions ?? []).entries()) {
      const label = element("label", "question", this.text(question, "ask"));
      const input = element("input");
      Object.assign(input, { type: "text", name: `answer-${n}`, autocomplete: "off", placeholder: say("your answer"), autofocus: n === 0 });
      label.append(input);
      form.append(label);
    }
    form.append(element("button", "main", say("see what happens")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.answers = [...form.querySelectorAll("input")].map((input) => input.value.trim());
      this.draw();
      nameParts();
      this.dialog.scrollTop = 0;
      this.dialog.querySelector(".main").focus();
    });
    return form;
  }

  answer() {
    const found = [element("h3", "", say("Why it matters:")), element("p", "why", this.text(this.cause, "why"))];
    if (this.cause.questions?.length) found.push(element("h3", "", say("What happened:")), this.outcomes());
    found.push(...this.differences(), element("h3", "", say("What a real provider would say of the last history:")), this.verdicts());
    const go = element("button", "main", say(this.data.parts === null ? "close" : "go to where they part"));
    go.type = "button";
    go.addEventListener("click", () => {
      this.dialog.close();
      if (this.data.parts !== null) jump(this.data.parts);
    });
    const foot = element("div", "foot");
    foot.append(go);
    return [...found, foot];
  }

  outcomes() {
    const list = element("dl");
    this.cause.questions.forEach((question, n) => {
      list.append(element("dt", "", this.text(question, "ask")));
      const said = this.answers[n];
      if (said) {
        const line = element("dd", "said", say("you: {said}", { said }));
        const right = isRight(said, question);
        line.append(element("span", `badge ${right ? "right" : ""}`, say(right ? "right" : "not quite")));
        list.append(line);
      }
      list.append(element("dd", "answer", this.text(question, "answer")));
    });
    return list;
  }

  // The first message and the first line that differ, each with a way to the moment it came.
  differences() {
    const found = [];
    const { message, row } = this.data;
    if (message) {
      found.push(element("h3", "", say("The first message that differs:")), this.twoLanes((lane, n) => {
        const place = message[n];
        if (place === null) return [say("no message"), undefined];
        const { role, text = "", calls = [] } = lane.messages[place];
        const words = [text, ...calls.map((call) => `→ ${call.id} ${call.name} ${call.arguments}`)].join("\n").trim();
        return [`${role}: ${shortened(words)}`, lane.cameWith.get(place)];
      }));
    }
    if (row) {
      found.push(element("h3", "", say("The first line on the screen that differs:")), this.twoLanes((lane, n) => {
        const line = lane.screenRows[row[n]];
        return line ? [shortened(line.textContent), line.lastChild.place] : [say("no line"), undefined];
      }));
    }
    return found;
  }

  twoLanes(of) {
    const list = element("ul", "both");
    this.lanes.forEach((lane, n) => {
      const [text, place] = of(lane, n);
      const line = element("li");
      line.append(element("b", "", lane.shortName));
      const words = element(place === undefined ? "span" : "button", "found", text);
      if (place !== undefined) {
        words.type = "button";
        words.addEventListener("click", () => { this.dialog.close(); jump(stepOf(lane, place)); });
      }
      line.append(words);
      list.append(line);
    });
    return list;
  }

  verdicts() {
    const list = element("ul", "both");
    for (const lane of this.lanes) {
      const faults = lane.faults();
      const shown = faults.slice(0, 4);
      if (faults.length > shown.length) shown.push(say("and {count} more", { count: faults.length - shown.length }));
      const line = element("li");
      const badge = element("span", `badge ${faults.length ? "failed" : "right"}`, say(faults.length ? "refused" : "accepted"));
      const words = element("span");
      words.append(badge, shown.join(" · ") || say("every call has its result"));
      line.append(element("b", "", lane.shortName), words);
      list.append(line);
    }
    return list;
  }
}

function shortened(text) {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

// An answer counts in both languages, and with more words around it. 不是 is no, whatever follows.
function isRight(said, { answer, answer_zh = "", also = [] }) {
  const text = said.toLowerCase();
  if (["yes", "no"].includes(answer)) {
    const word = text.match(/^\s*([a-z]+|.)/u)?.[1];
    const yes = ["y", "yes", "是", "对", "会", "能", "有"].includes(word);
    const no = ["n", "no", "否", "不", "没", "无"].includes(word);
    return answer === "yes" ? yes : no;
  }
  return [answer, answer_zh, ...also].some((word) => word && says(text, word.toLowerCase()));
}

// Whether a word is said as a word, and not as a part of another one, as 8 of 18.
function says(text, word) {
  const inside = "[a-z0-9_零一二三四五六七八九十百]";
  const literal = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<!${inside})${literal}(?!${inside})`).test(text);
}
