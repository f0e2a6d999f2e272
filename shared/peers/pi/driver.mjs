// The real Pi: its Agent with a stream function of our own. Its command line is that of measure.py.

import { Agent } from "@earendil-works/pi-agent-core";
import { createAssistantMessageEventStream } from "@earendil-works/pi-ai";
import { readFileSync } from "node:fs";

const TEXT = "ab".repeat(5);
const [ENOUGH, MOST] = [1.0, 15];
const PACKAGE = new URL("node_modules/@earendil-works/pi-agent-core/package.json", import.meta.url);
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { ...cost, totalTokens: 0, cost: { ...cost, total: 0 } };
const model = {
  ...{ id: "scripted", name: "scripted", api: "scripted", provider: "scripted", baseUrl: "" },
  ...{ reasoning: false, input: ["text"], cost, contextWindow: 1_000_000, maxTokens: 1_000 },
};
let [turns, asked, ran] = [0, 0, 0];

function* answer(call) {
  const text = { type: "text", text: "" };
  const message = { role: "assistant", content: [], api: model.api, provider: model.provider };
  Object.assign(message, { model: model.id, usage, timestamp: Date.now(), stopReason: "stop" });
  yield { type: "start", partial: message };
  message.content.push(text);
  yield { type: "text_start", contentIndex: 0, partial: message };
  for (let place = 0; place < TEXT.length; place += 2) {
    const delta = TEXT.slice(place, place + 2);
    text.text += delta;
    yield { type: "text_delta", contentIndex: 0, delta, partial: message };
  }
  yield { type: "text_end", contentIndex: 0, content: TEXT, partial: message };
  if (call) {
    message.content.push(call);
    message.stopReason = "toolUse";
    yield { type: "toolcall_start", contentIndex: 1, partial: message };
    yield { type: "toolcall_end", contentIndex: 1, toolCall: call, partial: message };
  }
  yield { type: "done", reason: message.stopReason, message };
}

function streamFn() {
  asked += 1;
  const call = { type: "toolCall", id: `call_${asked}`, name: "calc" };
  call.arguments = { expression: "12*8" };
  const stream = createAssistantMessageEventStream();
  for (const event of answer(asked <= turns && call)) stream.push(event);
  stream.end();
  return stream;
}

const calc = {
  name: "calc",
  label: "calc",
  description: "Calculate.",
  parameters: { type: "object", properties: { expression: { type: "string" } } },
  execute: async () => {
    ran += 1;
    return { content: [{ type: "text", text: "96" }], details: {} };
  },
};

async function secondsOf(count) {
  [turns, asked, ran] = [count, 0, 0];
  const started = performance.now();
  const agent = new Agent({
    initialState: { systemPrompt: "You calculate.", model, tools: [calc] },
    streamFn,
  });
  await agent.prompt("go");
  const taken = (performance.now() - started) / 1000;
  if (asked !== turns + 1 || ran !== turns) throw new Error(`asked ${asked} times, ran ${ran} tools`);
  return taken;
}

await secondsOf(1);
for (const turns of process.argv.slice(2).map(Number)) {
  const taken = [];
  while (taken.length < MOST && taken.reduce((a, b) => a + b, 0) < ENOUGH)
    taken.push(await secondsOf(turns));
  taken.sort((a, b) => a - b);
  const { version } = JSON.parse(readFileSync(PACKAGE, "utf8"));
  const seconds = (taken[(taken.length - 1) >> 1] + taken[taken.length >> 1]) / 2;
  const peak_mb = process.resourceUsage().maxRSS / 1024;
  console.log(JSON.stringify({ version, turns, seconds, peak_mb }));
}
