// Keeps the playground, so that it works without a network from the second visit on.
// What stands here instead of these two lines is written when the site is built.
const version = "VERSION";
const kept = ["FILES"];

const open = () => caches.open(`site-${version}`);

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(open().then((cache) => cache.addAll(kept)));
});

addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name.startsWith("site-") && name !== `site-${version}`) await caches.delete(name);
    await clients.claim();
  })());
});

addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && new URL(event.request.url).origin === location.origin) event.respondWith(answer(event.request));
});

// What belongs to the playground never changes under one version. A page is taken fresh if it can be.
async function answer(request) {
  const cache = await open(), path = new URL(request.url).pathname;
  const name = path.slice(new URL("./", location.href).pathname.length);
  const ours = name.startsWith("playground/") && await cache.match(request, { ignoreSearch: true });
  if (ours) return ours;
  try {
    const fresh = await fetch(request);
    if (fresh.ok) await cache.put(request, fresh.clone());
    return fresh;
  } catch (error) {
    const old = await cache.match(request, { ignoreSearch: true });
    if (old) return old;
    throw error;
  }
}
