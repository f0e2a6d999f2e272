// The page's end of the wire to Python. One question at a time; a worker that hangs is replaced.
import { say } from "./words.js";

export const SECONDS = 8; // As long as the terminal waits.
let worker, waiting = null, ready, shown = () => {};

export function onState(callback) {
  shown = callback;
}

export function startPython() {
  let arrived;
  ready = new Promise((resolve) => { arrived = resolve; });
  // A worker from a blob lives under the policy of this page: it reaches no other host either.
  const code = `import ${JSON.stringify(new URL("worker.js", import.meta.url).href)};`;
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  worker = new Worker(address, { type: "module" });
  worker.onerror = (event) => shown(say("Python cannot be loaded here: {reason}", { reason: event.message ?? "" }), "broken");
  worker.onmessage = ({ data }) => {
    if (data.loaded < 100) shown(say("Python loads: {percent} %", { percent: data.loaded }), "loading");
    if (data.loaded === 100) shown(say("Python starts"), "loading");
    if (data.broken) shown(say("Python cannot be loaded here: {reason}", { reason: data.broken }), "broken");
    if (data.ready) {
      shown(say("Python is ready"), "ready");
      arrived();
    }
    if (data.screen !== undefined || data.history) waiting?.tell(data);
    if (data.found !== undefined) settle("resolve", data.found);
    if (data.failed !== undefined) settle("reject", new Error(data.failed));
  };
}

function settle(how, value) {
  const asked = waiting;
  waiting = null;
  clearTimeout(asked?.clock);
  shown(say("Python is ready"), "ready");
  asked?.[how](value);
}

/** Ask Python; what it prints meanwhile goes to `tell`. It ends after SECONDS, whatever it does. */
export async function ask(question, tell = () => {}) {
  while (waiting) await waiting.promise.catch(() => {});
  const asked = { tell };
  asked.promise = new Promise((resolve, reject) => Object.assign(asked, { resolve, reject }));
  waiting = asked;
  await ready;
  if (waiting !== asked) return asked.promise;
  shown(say("Python works"), "working");
  const late = () => stop(say("It did not end after {seconds} seconds: a loop that never ends?", { seconds: SECONDS }));
  asked.clock = setTimeout(late, SECONDS * 1000);
  worker.postMessage(question);
  return asked.promise;
}

export function stop(reason = say("Stopped.")) {
  if (!waiting) return;
  worker.terminate();
  settle("reject", new Error(reason));
  startPython();
}
