import pg from "pg";
import { randomUUID, randomBytes } from "node:crypto";
import { Database } from "./src/database.ts";
import { append, APPEND_SETTINGS } from "./src/append/append.ts";
const url = process.argv[2]!; const seconds = Number(process.argv[3] ?? 4); const withTasks = process.argv[4] === "tasks"; const conns = Number(process.argv[5] ?? 2);
const db = new Database({ connectionString: url }, { max: conns, named: true, settings: APPEND_SETTINGS });
const ns = "bench" + Date.now();
const ids = Array.from({ length: 64 }, () => randomUUID());
const bytes = randomBytes(300), digest = randomBytes(32), result = randomBytes(40);
const base = { namespace: ns, kind: "run" as const, deltas: false, requires: [] as any[], settles: [] as any[], starts: [], removeTasks: [], addTasks: [] as any[], cancelTasks: [], listing: undefined, artifacts: [] };
const r0 = await append(db, ids.map((streamId) => ({ ...base, streamId, expectedSeq: 0, events: [{ seq: 1, kind: "run.created", bytes }], commands: [] })));
if (r0.some((r) => r.outcome !== "ok")) throw new Error(JSON.stringify(r0));
function make(streamId: string, seq: number, prev: any) {
  const token = randomBytes(16); const key = "k" + seq;
  return { ...base, streamId, expectedSeq: seq, events: [{ seq: seq + 1, kind: "step.completed", bytes }], commands: [{ commandId: randomUUID(), digest, seq: seq + 1, resultType: "x", result }],
    ...(withTasks ? { requires: prev ? [prev] : [], settles: prev ? [prev] : [], addTasks: [{ key, kind: "work" as const, route: "q f", dueAtMs: 0, needsStart: false, idempotent: true, bytes: digest, lease: { owner: "w1", token, ttlMs: 30000 } }] } : {}), next: { streamId, key, epoch: 1, token } };
}
const lat: number[] = [];
function report(name: string, count: number, ms: number, batches: number) { lat.sort((a, b) => a - b); console.log(name, Math.round(count / ms * 1000), "/s  p50", lat[lat.length >> 1]!.toFixed(1), "p99", lat[Math.floor(lat.length * .99)]!.toFixed(1), "batches", batches, "cpu", process.cpuUsage().user / 1e6); lat.length = 0; }
const seqs = new Map(ids.map((id) => [id, 1])); const prevs = new Map<string, any>();
async function batched() {
  let queue: { a: any; resolve: (v: any) => void }[] = []; let inFlight = 0, batches = 0;
  const pump = () => { while (queue.length && inFlight < conns) { const b = queue.splice(0, Number(process.env.BMAX ?? 1000)); inFlight++; batches++; append(db, b.map((x) => x.a)).then((rs) => { inFlight--; rs.forEach((r, i) => b[i]!.resolve(r)); setImmediate(pump); }, (e) => { console.error(e); process.exit(1); }); } };
  const end = performance.now() + seconds * 1000; let count = 0; const free = [...ids]; const start = performance.now();
  await Promise.all(Array.from({ length: 32 }, async () => { while (performance.now() < end) { const id = free.shift()!; const a = make(id, seqs.get(id)!, prevs.get(id)); const t = performance.now(); const r: any = await new Promise((resolve) => { queue.push({ a, resolve }); if (queue.length === 1) setImmediate(pump); }); lat.push(performance.now() - t); if (r.outcome === "ok") { seqs.set(id, a.expectedSeq + 1); prevs.set(id, a.next); count++; } else if (r.outcome !== "busy") throw new Error(JSON.stringify(r)); free.push(id); } }));
  report("batched", count, performance.now() - start, batches);
}
const SINGLE = `with ok as (update forge.stream set seq = seq + 1 where ns = $1 and id = $2 and seq = $3 returning ns, id),
e as (insert into forge.event select ns, id, $4::bigint, $5::text, $6::bytea from ok),
c as (insert into forge.command (ns, stream_id, command_id, digest, seq, result_type, result) select ns, id, $7, $8, $4::bigint, $9, $10 from ok) select count(*) n from ok`;
const SINGLET = `with held as (select ns, stream_id, task_key from forge.task where ns = $1 and stream_id = $2 and task_key = $12 and epoch = 1 and token = $13 for update), ok as (update forge.stream set seq = seq + 1 where ns = $1 and id = $2 and seq = $3 and ($12::text is null or exists (select from held)) returning ns, id),
e as (insert into forge.event select ns, id, $4::bigint, $5::text, $6::bytea from ok), d as (delete from forge.task t using held h, ok where t.ns=h.ns and t.stream_id=h.stream_id and t.task_key = h.task_key),
t as (insert into forge.task (ns, stream_id, task_key, stream_kind, kind, route, due_at, owner, token, epoch, lease_until, needs_start, idempotent, bytes) select ns, id, $11, 'run', 'work', 'q f', now(), 'w1', $14, 1, now() + interval '30 s', false, true, $8 from ok),
c as (insert into forge.command (ns, stream_id, command_id, digest, seq, result_type, result) select ns, id, $7, $8, $4::bigint, $9, $10 from ok) select count(*) n from ok`;
async function single() {
  const pool = new pg.Pool({ connectionString: url, max: 32 });
  await Promise.all(Array.from({length: 32}, () => pool.query("select 1")));
  const end = performance.now() + seconds * 1000; let count = 0; const free = [...ids]; const start = performance.now();
  await Promise.all(Array.from({ length: 32 }, async () => { while (performance.now() < end) { const id = free.shift()!; const a = make(id, seqs.get(id)!, prevs.get(id)); const p = prevs.get(id); const t = performance.now(); const v: any[] = [ns, id, a.expectedSeq, a.expectedSeq + 1, "step.completed", bytes, a.commands[0]!.commandId, digest, "x", result]; if (withTasks) v.push(a.next.key, p?.key ?? null, p?.token ?? null, a.next.token); const r = await pool.query({ name: withTasks ? "st" : "s", text: withTasks ? SINGLET : SINGLE, values: v }); if (r.rows[0].n != 1) throw new Error("x"); lat.push(performance.now() - t); seqs.set(id, a.expectedSeq + 1); prevs.set(id, a.next); count++; free.push(id); } }));
  report("single ", count, performance.now() - start, count); await pool.end();
}
for (let i = 0; i < 3; i++) { await batched(); await single(); }
await db.close();
