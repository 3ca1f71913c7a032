/** Writes the bundle of the swarms that the benchmarks run: one agent that repeats its input, with a tool and
 * a secret to mask. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parameters, secrets } from './instant-agent.ts';

/** The name of the swarm. */
export const SWARM = 'bench';

export interface SwarmBundleOptions {
  /** Whether every layer is recorded. */
  readonly trace: 'on' | 'off';
  /** A process for each conversation, or one process for many conversations of the agent. */
  readonly isolation?: 'instance' | 'agent';
  /** The time that the model takes; none when absent. */
  readonly latencyMs?: number;
}

/** Returns the folder of the bundle. The caller removes it. */
export function writeSwarmBundle({ trace, isolation = 'instance', latencyMs = 0 }: SwarmBundleOptions): string {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-bench-bundle-'));
  // A process for each conversation is the default.
  const isolated = isolation === 'agent' ? ', isolation: agent' : '';
  writeFileSync(join(folder, '.env'), `BENCH_TOKEN='${secrets[0]}'\n`);
  writeFileSync(join(folder, 'weather.js'), 'export const handlers = { get: () => ({ tempC: 20 }) };\n');
  writeFileSync(
    join(folder, 'goondan.yaml'),
    `apiVersion: goondan.ai/v1
kind: Swarm
metadata: { name: ${SWARM} }
spec: { entryAgent: Agent/echo, agents: [Agent/echo], policy: { trace: ${trace} } }
---
apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: echo }
spec: { modelConfig: { modelRef: Model/scripted }, tools: [Tool/weather]${isolated} }
---
apiVersion: goondan.ai/v1
kind: Tool
metadata: { name: weather }
spec:
  entry: ./weather.js
  config: { token: { valueFrom: { env: BENCH_TOKEN } } }
  exports: [{ name: get, description: Weather, parameters: ${JSON.stringify(parameters)} }]
---
apiVersion: goondan.ai/v1
kind: Model
metadata: { name: scripted }
spec: { provider: scripted, model: bench, options: { latencyMs: ${latencyMs}, script: [{ say: 'You said: {{input}}' }] } }
`,
  );
  return folder;
}
