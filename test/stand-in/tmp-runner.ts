import { connectToParent } from '../../packages/runtime/src/ipc/connect-to-parent.ts';
import { agentLanguage } from '../../packages/runtime/src/ipc/codec.ts';
import { startAgent } from '../../packages/runtime/src/agent/start-agent.ts';
import { durableStore } from '../../packages/runtime/src/workspace/durable-store.ts';
import { fromFrameError } from '../../packages/runtime/src/ipc/check/frame-error.ts';
const channel = connectToParent(agentLanguage, process.argv[2] ?? '');
channel.onClose(() => process.exit(0));
let agent: any; const waiting = new Map<string, any>();
function call(kind: any, to: any, event: any, timeoutMs: number) { const callId = crypto.randomUUID(); const p = Promise.withResolvers<any>(); waiting.set(callId, p); void channel.send({ type: 'call', callId, kind, to, event, timeoutMs }); return p.promise; }
const engine: any = { catalog: () => [], list: async () => [], deliver: (to: any, e: any) => call('send', to, e, 1000), request: async (to: any, e: any, t: number) => (await call('request', to, e, t)).result };
channel.onMessage(async (m: any) => {
  if (m.type === 'ping') return void channel.send({ type: 'pong', n: m.n });
  if (m.type === 'call.ended') { const p = waiting.get(m.callId); if (m.outcome.status === 'failed') p.reject(fromFrameError(m.outcome.error)); else p.resolve(m.outcome.status === 'accepted' ? { accepted: true } : m.outcome); return; }
  if (m.type === 'start') {
    const { agent: a, address, store, cwd } = m.plan; process.chdir(cwd);
    const journal = await durableStore(store);
    agent = await startAgent({ ...a, instanceKey: address.instanceKey }, { store: journal, engine, logSink: (line) => void channel.send({ type: 'log', line }) });
    return void channel.send({ type: 'ready', extensions: [], layers: [], tools: [] });
  }
  if (m.type === 'turn') { const { result, stepCount, usage } = await agent.handle(m.event, { onDelta: (delta: any) => void channel.send({ type: 'delta', eventId: m.event.id, delta }) }); return void channel.send({ type: 'turn.done', eventId: m.event.id, result, stepCount, usage }); }
  if (m.type === 'drain') { await agent.close(m.graceMs); await channel.send({ type: 'drained' }); process.exit(0); }
});
