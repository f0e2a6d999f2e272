// Plays scenario files on the real Pi and compares with the recordings beside them.
//
//   node record.mjs                       all of scenarios/: one line a difference, status 1 if any
//   node record.mjs --print FILE ...      print the lines of a scenario, and compare nothing
//   node record.mjs --write FILE ...      write them beside the file, as FILE.out.jsonl
//
// It needs the package that package.json names (`make conformance` installs it). Nothing of Pi is in
// here: this drives its public functions and writes down what they tell.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const PI = process.env.PI_PACKAGE
  ? join(process.env.PI_PACKAGE, "node_modules/@earendil-works/pi-agent-core/dist/index.js")
  : join(HERE, ".pi/node_modules/@earendil-works/pi-agent-core/dist/index.js");
const pi = await import(pathToFileURL(PI));

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const roles = (messages) => messages.map((message) => message.role);
const user = (text) => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });
const USAGE = {
  input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const model = (id) => ({ id, name: id, api: "fake", provider: "fake", input: ["text"] });
const assistant = (content, stopReason, errorMessage) => ({
  role: "assistant", content, api: "fake", provider: "fake", model: "fake", usage: USAGE,
  stopReason, ...(errorMessage === undefined ? {} : { errorMessage }), timestamp: 0,
});

function textOf(content) {
  if (content === undefined) return null;
  if (typeof content === "string") return content;
  const said = (block) =>
    block.type === "toolCall"
      ? `[call ${block.id} ${block.name} ${JSON.stringify(block.arguments)}]`
      : block.type === "text" ? block.text : "";
  return content.map(said).join("");
}

function messageLine(type, message) {
  const line = { type, role: message.role };
  if (message.role === "assistant") {
    line.stopReason = message.stopReason;
    if (message.errorMessage !== undefined) line.errorMessage = message.errorMessage;
  }
  if (message.role === "toolResult") {
    line.toolCallId = message.toolCallId;
    line.toolName = message.toolName;
    line.isError = message.isError;
  }
  return { ...line, text: textOf(message.content) };
}

function eventLine(event) {
  const { type } = event;
  const tool = { type, toolCallId: event.toolCallId, toolName: event.toolName };
  switch (type) {
    case "message_start":
    case "message_end":
      return messageLine(type, event.message);
    case "message_update": {
      const { type: ame, delta, contentIndex } = event.assistantMessageEvent;
      return { type, role: "assistant", ame, ...(delta === undefined ? {} : { delta }), contentIndex };
    }
    case "tool_execution_start":
      return { ...tool, args: event.args };
    case "tool_execution_update":
      return { ...tool, text: textOf(event.partialResult?.content) };
    case "tool_execution_end": {
      const terminate = event.result?.terminate;
      return {
        ...tool, isError: event.isError, ...(terminate === undefined ? {} : { terminate }),
        text: textOf(event.result?.content),
      };
    }
    case "turn_end":
      return {
        type, stopReason: event.message.stopReason,
        toolResults: event.toolResults.map((one) => one.toolCallId + (one.isError ? "!" : "")),
      };
    case "agent_end":
      return { type, roles: roles(event.messages) };
    default:
      return { type };
  }
}

function matches(key, line) {
  const [type, detail] = key.split(/:(.*)/s);
  const details = [line.role, line.toolCallId, line.toolName, line.ame];
  return line.type === type && (detail === undefined || details.includes(detail));
}

const KINDS = {
  calc: {
    schema: { expression: { type: "string" } },
    run: ({ expression }) => {
      if (!/^[-+*/%(). 0-9]+$/.test(expression)) throw new Error(`bad expression: ${expression}`);
      return String(Function(`return (${expression})`)());
    },
  },
  echo: { schema: { value: { type: "string" } }, run: (args) => `echo:${JSON.stringify(args)}` },
  fail: { schema: {}, run: () => { throw new Error("tool exploded"); } },
  slow: {
    schema: { ms: { type: "number" } },
    run: async ({ ms }, wait) => { await wait(ms); return `slept ${ms}`; },
  },
};

class Played {
  constructor(scenario) {
    this.scenario = scenario;
    this.hooks = scenario.hooks ?? {};
    this.lines = [];
    this.llmCalls = [];
    this.polls = { steering: 0, followUp: 0 };
    this.turnsEnded = 0;
    this.seen = 0;
    this.controller = new AbortController();
    this.cancel = () => this.controller.abort();
    this.tools = this.builtTools(scenario.tools ?? {});
  }

  log(line) { this.lines.push(JSON.parse(JSON.stringify(line))); }
  hook(line) { if (this.scenario.showHooks) this.log(line); }

  abort(at, why = at) {
    if (this.scenario.abort?.at !== at || this.aborted) return;
    this.aborted = true;
    this.log({ type: "__abort", why });
    this.cancel();
  }

  // A listener: note the event, then do what the scenario wants to happen at it.
  heard(event) {
    const line = eventLine(event);
    this.log(line);
    const { abort, steerOn, subscriber } = this.scenario;
    if (this.agent && steerOn && !this.steered && matches(steerOn.event, line)) {
      this.steered = true;
      for (const text of steerOn.steer ?? []) this.agent.steer(user(text));
      for (const text of steerOn.followUp ?? steerOn.followUps ?? []) this.agent.followUp(user(text));
    }
    if (abort?.at === "event" && matches(abort.key, line) && ++this.seen === (abort.n ?? 1)) {
      this.abort("event", `event:${abort.key}`);
    }
    if (subscriber?.throwOn === event.type) throw new Error("subscriber failed");
  }

  stream = (usedModel, context, options) => {
    const turn = this.scenario.turns?.[this.llmCalls.length]
      ?? this.scenario.fallbackTurn ?? { text: "(script exhausted)" };
    this.llmCalls.push({
      roles: roles(context.messages), systemPrompt: context.systemPrompt,
      tools: (context.tools ?? []).map((tool) => tool.name), model: usedModel.id,
    });
    this.hook({ type: "__llm_call", n: this.llmCalls.length, roles: roles(context.messages) });
    this.abort("before_stream");
    if (turn.throw) throw new Error(turn.throw);
    if (turn.reject) return Promise.reject(new Error(turn.reject));
    return this.answer(turn, options?.signal);
  };

  answer(turn, signal) {
    const content = [];
    const reason = turn.stopReason ?? (turn.toolCalls?.length ? "toolUse" : "stop");
    let last = assistant(content, reason, turn.errorMessage);
    const partial = assistant(content, "pending");

    function* pieces() {
      if (turn.start !== false) yield { type: "start" };
      let contentIndex = 0;
      for (const [kind, text, count] of [["thinking", turn.thinking, 1], ["text", turn.text, turn.deltas ?? 1]]) {
        if (!text) continue;
        const block = { type: kind, [kind]: "" };
        content.push(block);
        yield { type: `${kind}_start`, contentIndex };
        const size = Math.ceil(text.length / count);
        for (let at = 0; at < text.length; at += size) {
          const delta = text.slice(at, at + size);
          block[kind] += delta;
          yield { type: `${kind}_delta`, contentIndex, delta };
        }
        yield { type: `${kind}_end`, contentIndex, content: text };
        contentIndex += 1;
      }
      for (const call of turn.toolCalls ?? []) {
        const toolCall = { type: "toolCall", ...call, arguments: call.arguments ?? {} };
        content.push(toolCall);
        yield { type: "toolcall_start", contentIndex };
        yield { type: "toolcall_delta", contentIndex, delta: JSON.stringify(toolCall.arguments) };
        yield { type: "toolcall_end", contentIndex, toolCall };
        contentIndex += 1;
      }
    }

    async function* events() {
      let count = 0;
      for (const piece of pieces()) {
        if (turn.iterThrow && count >= (turn.iterThrowAfter ?? 2)) throw new Error(turn.iterThrow);
        if (turn.delayMs) await sleep(turn.delayMs);
        if (signal?.aborted && piece.type !== "start") {
          last = assistant(content, "aborted", "Request was aborted");
          yield { type: "error", reason: "aborted", error: last };
          return;
        }
        yield { ...piece, partial };
        count += 1;
      }
      if (turn.iterThrow) throw new Error(turn.iterThrow);
      if (turn.delayMs) await sleep(turn.delayMs);
      if (signal?.aborted) last = assistant(content, "aborted", "Request was aborted");
      if (turn.endWithoutDone) return;
      const failed = last.stopReason === "error" || last.stopReason === "aborted";
      yield failed
        ? { type: "error", reason: last.stopReason, error: last }
        : { type: "done", reason: last.stopReason, message: last };
    }

    const stream = events();
    return { [Symbol.asyncIterator]: () => stream, result: async () => last };
  }

  builtTools(options) { return Object.entries(options).map(([name, one]) => this.tool(name, one)); }

  tool(name, options) {
    const kind = KINDS[options.kind ?? name];
    if (!kind) throw new Error(`no kind of tool: ${options.kind ?? name}`);
    const required = Object.keys(kind.schema);
    const tool = {
      name, label: name, description: name,
      parameters: options.schema
        ?? { type: "object", properties: kind.schema, required, additionalProperties: false },
      execute: (id, args, signal, update) => this.run(options, kind, id, args, signal, update),
    };
    if (options.executionMode) tool.executionMode = options.executionMode;
    if (options.prepareThrow) tool.prepareArguments = () => { throw new Error(options.prepareThrow); };
    if (options.prepareRename) {
      const [from, to] = options.prepareRename;
      tool.prepareArguments = (args) => {
        const { [from]: renamed, ...rest } = args;
        return from in args ? { ...rest, [to]: renamed } : args;
      };
    }
    return tool;
  }

  async run(options, kind, toolCallId, args, signal, update) {
    this.hook({ type: "__tool_run", toolCallId, args });
    this.abort("tool_run");
    const wait = (ms) => new Promise((done, failed) => {
      const timer = setTimeout(done, ms);
      if (options.ignoreAbort) return;
      const stop = () => { clearTimeout(timer); failed(new Error("aborted")); };
      if (signal?.aborted) stop();
      signal?.addEventListener("abort", stop, { once: true });
    });
    const tell = (text) => update?.({ content: [{ type: "text", text }], details: {} });
    for (let n = 1; n <= (options.updates ?? 0); n++) tell(`update ${n}`);
    if (options.delayMs) await wait(options.delayMs);
    if (options.lateUpdate) setTimeout(() => tell("late"), 5);
    if (options.throwString) throw options.throwString;
    if (options.throwUndefined) throw undefined;
    if (options.returnUndefined) return undefined;
    const text = await kind.run(args, wait);
    const result = { content: [{ type: "text", text }], details: options.details ?? {} };
    if (options.noContent) delete result.content;
    if (options.isError !== undefined) result.isError = options.isError;
    if (options.terminate !== undefined) result.terminate = options.terminate;
    return result;
  }

  callbacks() {
    const { hooks, scenario } = this;
    const kept = (messages, { keepLast } = {}) =>
      keepLast === undefined ? messages : keepLast ? messages.slice(-keepLast) : [];
    const failing = ({ throw: text } = {}) => { if (text) throw new Error(text); };
    const forCall = (table, call) => table?.[call.id] ?? table?.[call.name] ?? {};
    const found = {
      convertToLlm: async (messages) => {
        failing(hooks.convertToLlm);
        return kept(messages, hooks.convertToLlm);
      },
      prepareNextTurn: async (turn) => {
        const wanted = hooks.prepareNextTurn;
        this.hook({ type: "__prepareNextTurn", roles: roles(turn.context.messages) });
        failing(wanted);
        if (!wanted) return undefined;
        const context = { ...turn.context, messages: kept(turn.context.messages, wanted) };
        if (wanted.systemPrompt !== undefined) context.systemPrompt = wanted.systemPrompt;
        if (wanted.tools) context.tools = this.chosen(wanted.tools);
        return { context, ...(wanted.model ? { model: model(wanted.model) } : {}) };
      },
      shouldStopAfterTurn: async () => {
        this.hook({ type: "__shouldStopAfterTurn" });
        failing(hooks.shouldStopAfterTurn);
        this.turnsEnded += 1;
        return scenario.maxTurns !== undefined && this.turnsEnded >= scenario.maxTurns;
      },
      getSteeringMessages: async () => this.polled("steering", scenario.steering),
      getFollowUpMessages: async () => this.polled("followUp", scenario.followUp),
      toolExecution: scenario.toolExecution,
    };
    if (hooks.transformContext) {
      found.transformContext = async (messages) => {
        failing(hooks.transformContext);
        return kept(messages, hooks.transformContext);
      };
    }
    if (hooks.beforeToolCall || scenario.abort?.at === "before_tool") {
      found.beforeToolCall = async ({ toolCall, args }) => {
        this.hook({ type: "__beforeToolCall", toolCallId: toolCall.id, args });
        this.abort("before_tool");
        const wanted = forCall(hooks.beforeToolCall, toolCall);
        if (wanted.delayMs) await sleep(wanted.delayMs);
        failing(wanted);
        Object.assign(args, wanted.mutate);
        const { block, reason, terminate } = wanted;
        return block ? { block, reason, terminate } : undefined;
      };
    }
    if (hooks.afterToolCall || scenario.abort?.at === "after_tool") {
      found.afterToolCall = async ({ toolCall, isError }) => {
        this.hook({ type: "__afterToolCall", toolCallId: toolCall.id, isError });
        this.abort("after_tool");
        const wanted = forCall(hooks.afterToolCall, toolCall);
        if (wanted.delayMs) await sleep(wanted.delayMs);
        failing(wanted);
        const { text, isError: bad, terminate } = wanted;
        return {
          ...(text === undefined ? {} : { content: [{ type: "text", text }] }),
          isError: bad, terminate,
        };
      };
    }
    return found;
  }

  chosen(tools) {
    const known = this.scenario.tools ?? {};
    return Array.isArray(tools)
      ? tools.map((name) => this.tool(name, known[name] ?? {}))
      : this.builtTools(tools);
  }

  polled(which, answers) {
    const n = ++this.polls[which];
    const texts = (Array.isArray(answers) ? answers[n - 1] : answers?.[n]) ?? [];
    this.hook({ type: `__poll_${which}`, n, got: texts.length });
    return texts.map(user);
  }

  async lowLevel() {
    const { scenario } = this;
    const context = { systemPrompt: scenario.systemPrompt ?? "sys", messages: this.caller, tools: this.tools };
    const config = { model: model(scenario.model ?? "fake"), ...this.callbacks() };
    const { signal } = this.controller;
    const prompts = (scenario.prompts ?? [scenario.prompt ?? "hi"]).map(user);
    if (scenario.driver === "emit") {
      const emit = async (event) => this.heard(event);
      return scenario.continue
        ? pi.runAgentLoopContinue(context, config, emit, signal, this.stream)
        : pi.runAgentLoop(prompts, context, config, emit, signal, this.stream);
    }
    const stream = scenario.continue
      ? pi.agentLoopContinue(context, config, signal, this.stream)
      : pi.agentLoop(prompts, context, config, signal, this.stream);
    for await (const event of stream) this.heard(event);
    return stream.result();
  }

  async withAgent() {
    const { scenario } = this;
    const { shouldStopAfterTurn, getSteeringMessages, getFollowUpMessages, prepareNextTurn, ...hooks }
      = this.callbacks();
    this.agent = new pi.Agent({
      initialState: {
        systemPrompt: scenario.systemPrompt ?? "sys", model: model(scenario.model ?? "fake"),
        messages: this.caller, tools: this.tools,
      },
      streamFn: this.stream, ...hooks, prepareNextTurnWithContext: prepareNextTurn,
      steeringMode: scenario.steeringMode, followUpMode: scenario.followUpMode,
    });
    this.cancel = () => this.agent.abort();
    this.agent.subscribe(async (event) => this.heard(event));
    for (const text of scenario.steer ?? []) this.agent.steer(user(text));
    for (const text of scenario.followUps ?? []) this.agent.followUp(user(text));
    const prompts = scenario.prompts?.map(user) ?? scenario.prompt ?? "hi";
    await (scenario.continue ? this.agent.continue() : this.agent.prompt(prompts));
    const { isStreaming, errorMessage, pendingToolCalls, messages } = this.agent.state;
    this.log({
      type: "__agent_state", isStreaming, errorMessage, pending: [...pendingToolCalls],
      queued: this.agent.hasQueuedMessages(),
    });
    return messages;
  }

  async play() {
    const { scenario } = this;
    const history = (message) => ({
      timestamp: 0, ...(message.role === "assistant" ? assistant([], "stop") : {}), ...message,
    });
    this.caller = (scenario.messages ?? []).map(history);
    this.abort("initial");
    const timer = scenario.abort?.at === "timer" && setTimeout(() => this.abort("timer"), scenario.abort.ms ?? 0);
    const rejected = (error) => this.log({ type: "__unhandledRejection", message: error.message });
    process.on("unhandledRejection", rejected);
    const end = { type: "__end", pkg: "pi-agent-0830", driver: scenario.driver ?? "stream" };
    let result = [];
    let how = {};
    let alarm;
    const hung = new Promise((done) => { alarm = setTimeout(() => done("hung"), scenario.timeoutMs ?? 5000); });
    try {
      const run = scenario.driver === "agent" ? this.withAgent() : this.lowLevel();
      const outcome = await Promise.race([run, hung]);
      if (outcome === "hung") how = { hung: true };
      else result = outcome;
    } catch (error) {
      this.log({ type: "__threw", message: error.message });
      how = { threw: true };
    }
    if (scenario.lingerMs) await sleep(scenario.lingerMs);
    clearTimeout(alarm);
    clearTimeout(timer);
    process.off("unhandledRejection", rejected);
    this.log({
      ...end, roles: roles(result),
      isErrors: result.filter((one) => one.role === "toolResult").map((one) => one.isError),
      callerContextRoles: roles(this.agent?.state.messages ?? this.caller),
      llmCalls: this.llmCalls, polls: this.polls, ...how,
    });
    return this.lines;
  }
}

const play = async (file) =>
  (await new Played(JSON.parse(readFileSync(file, "utf8"))).play())
    .map((line) => `${JSON.stringify(line)}\n`).join("");
const recording = (file) => file.replace(/\.json$/, ".out.jsonl");

const [flag, ...named] = process.argv.slice(2);
const folder = join(HERE, "scenarios");
const files = named.length ? named
  : readdirSync(folder).filter((name) => name.endsWith(".json")).sort().map((name) => join(folder, name));
let different = 0;
for (const file of files) {
  const got = await play(file);
  if (flag === "--print") process.stdout.write(got);
  else if (flag === "--write") writeFileSync(recording(file), got);
  else {
    const wanted = readFileSync(recording(file), "utf8").split("\n");
    const at = got.split("\n").findIndex((line, n) => line !== wanted[n]);
    if (at >= 0 || got.split("\n").length !== wanted.length) {
      different += 1;
      console.log(`${basename(file)}: line ${at + 1} is not as recorded: ${got.split("\n")[at] ?? "(missing)"}`);
    }
  }
}
if (!flag) console.log(`${files.length - different} of ${files.length} recordings are what Pi 0.83.0 does`);
process.exit(different ? 1 : 0);
