// Python, in a worker: it may loop without end, and the page goes on.
const here = new URL("./", import.meta.url);
let pyodide, answer, seen = 0;
const { bytes } = await (await fetch(new URL("sizes.json", here))).json();

const fetchOfTheBrowser = self.fetch.bind(self);
self.fetch = async (...words) => {
  const response = await fetchOfTheBrowser(...words);
  if (!response.body) return response;
  const counted = response.body.pipeThrough(new TransformStream({
    transform(chunk, controller) {
      seen += chunk.byteLength;
      postMessage({ loaded: Math.min(99, Math.floor((100 * seen) / bytes)) });
      controller.enqueue(chunk);
    },
  }));
  return new Response(counted, response);
};

const archive = (name) => self.fetch(new URL(name, here)).then((response) => response.arrayBuffer());

// What the house and its viewer are packed into comes while Python is compiled.
async function start() {
  const archives = ["lab.tar.gz", "viewer.tar.gz"].map(archive);
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", here));
  pyodide = await loadPyodide({ indexURL: new URL("pyodide/", here).href });
  for (const archived of archives) pyodide.unpackArchive(await archived, "gztar", { extractDir: "/lab" });
  alone();
  postMessage({ loaded: 100 });
  pyodide.runPython("import sys; sys.path.insert(0, '/lab'); sys.dont_write_bytecode = True");
  pyodide.pyimport("playground.one_process").begin();
  answer = pyodide.pyimport("playground.tab").answer;
  postMessage({ ready: true });
}

// From here on nothing has to be fetched, and so nothing can be: not by what somebody shared either.
function alone() {
  for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "importScripts", "indexedDB", "caches", "BroadcastChannel", "Worker"]) {
    Object.defineProperty(self, name, { value: undefined, configurable: false, writable: false });
  }
}

// What is printed goes to the page in pieces that it can keep up with.
function teller() {
  let text = "", history = null, last = 0;
  const flush = () => {
    if (text || history !== null) postMessage({ screen: text, history });
    [text, history, last] = ["", null, performance.now()];
  };
  const tell = (kind, words) => {
    if (kind === "screen") text += words;
    else history = words;
    if (performance.now() - last > 30) flush();
  };
  return { tell, flush };
}

const started = start().catch((error) => postMessage({ broken: String(error) }));
onmessage = async ({ data }) => {
  await started;
  const { tell, flush } = teller();
  try {
    const found = JSON.parse(answer(JSON.stringify(data), tell));
    flush();
    postMessage({ found });
  } catch (error) {
    flush();
    postMessage({ failed: String(error.message ?? error).trim().split("\n").at(-1) });
  }
};
