// A worker in TypeScript, with nothing but what Node has: node worker.js [TOOL …]
type Call = { lease: string; tool: string; args: { url: string }; idempotency_key: string; lease_ms: number };
type Problem = { code: string; message: string; leader?: { api: string } };

let servers = (process.env.OMNI_SERVER ?? "http://127.0.0.1:7700").split(",");
const tools = process.argv.length > 2 ? process.argv.slice(2) : ["pages.words"];
const pause = (ms: number) => new Promise((over) => setTimeout(over, ms));

// ask asks the leader until it answers; null when it says that the call is not ours any more.
async function ask<T>(path: string, body: object, timeout = 10_000): Promise<T | null> {
  for (;;) {
    const server = servers[0];
    let problem: Problem | undefined;
    try {
      const answer = await fetch(server + "/v1/kernels/default/workers" + path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeout),
      });
      const said = await answer.json();
      if (answer.ok) return said as T;
      problem = said as Problem;
      if (answer.status === 422) break;
    } catch {} // it cannot be reached: the next one may
    if (problem?.code === "LEASE_LOST" || problem?.code === "STALE_RESULT") return null;
    const next = problem?.leader?.api ?? servers.find((other) => other !== server) ?? server;
    servers = [next, ...servers.filter((other) => other !== next && other !== server), server].filter((s, i, all) => all.indexOf(s) === i);
    await pause(200);
  }
  throw new Error("the leader does not take what we ask: " + path);
}

async function words(url: string): Promise<number> {
  const page = await fetch(url, { signal: AbortSignal.timeout(50_000) });
  if (!page.ok) throw new Error(String(page.status));
  return (await page.text()).split(/\s+/).filter(Boolean).length;
}

async function make(call: Call): Promise<void> {
  const lease = "/leases/" + call.lease;
  const beat = setInterval(() => void ask(lease + "/heartbeat", {}), call.lease_ms / 3);
  const [what, body] = await words(call.args.url).then(
    (n) => ["/complete", { result: { words: n } }] as const,
    (error: Error) => ["/fail", { message: error.name }] as const,
  );
  clearInterval(beat);
  console.log(call.tool, call.idempotency_key, body, (await ask(lease + what, body)) ?? "not ours any more");
}

for (;;) {
  const work = await ask<{ calls: Call[] }>("/poll", { tools, worker: "node", wait_ms: 20_000 }, 40_000);
  for (const call of work!.calls) await make(call);
}
