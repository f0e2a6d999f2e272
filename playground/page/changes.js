// What the reader has changed: kept in the browser, packed into an address, taken out of one.
import { storage } from "./words.js";

export const LONGEST_ADDRESS = 8000; // characters; more is cut off by what people send addresses with
const LARGEST = 400_000; // characters unpacked: more than all files of a step
const key = (step) => `playground/${step}`;

export function load(step) {
  try {
    return JSON.parse(storage(key(step)) ?? "{}");
  } catch {
    return {};
  }
}

export function save(step, changes) {
  storage(key(step), Object.keys(changes).length ? JSON.stringify(changes) : null);
}

export async function packed(step, changes) {
  const bytes = new TextEncoder().encode(JSON.stringify({ step, changes }));
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const small = new Uint8Array(await new Response(stream).arrayBuffer());
  const text = btoa(Array.from(small, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Return what an address holds; an Error says why it is not taken. Nothing in it is trusted. */
export async function unpacked(text, steps) {
  const { step, changes } = parsed(await inflated(text));
  if (typeof step !== "string" || !Object.hasOwn(steps, step)) throw new Error("there is no such step");
  if (typeof changes !== "object" || changes === null || Array.isArray(changes)) throw new Error("it is damaged");
  const found = {};
  for (const [path, code] of Object.entries(changes)) {
    if (typeof code !== "string") throw new Error("it is damaged");
    if (!fits(path, step, steps[step])) throw new Error("it names a file outside of the step");
    found[path] = code;
  }
  return { step, changes: found };
}

/** Whether a file is one that a reader may write: plain names, in the step, or its own output. */
export function fits(path, step, folder) {
  return path === `labs/step${step}/my_output.txt`
    || (path.length < 120 && path.startsWith(`${folder}/`) && /^(\w[\w-]*\/){1,4}\w[\w.-]*\.(py|txt|md|json|jsonl)$/.test(path) && !path.includes(".."));
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    throw new Error("it is damaged");
  }
}

async function inflated(text) {
  if (text.length > 4 * LONGEST_ADDRESS) throw new Error("it is too large");
  let size = 0;
  const parts = [], decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      size += value.length;
      if (size > LARGEST) {
        reader.cancel().catch(() => {});
        break;
      }
      parts.push(decoder.decode(value, { stream: true }));
    }
    if (size <= LARGEST) return parts.join("") + decoder.decode();
  } catch {
    throw new Error("it is damaged");
  }
  throw new Error("it is too large");
}
