import { expect, test } from 'bun:test';
import { listFields, type SchemaNode } from '../../../../../../scripts/list-fields.ts';
import { readProviderOptions } from '../../../agent/model/providers/read-provider-options.ts';
import { toCallOptions } from '../../../agent/model/providers/to-call-options.ts';
import { swarmSettings } from '../../../orchestrator/plan/swarm-settings.ts';
import { checkScript } from '../../script/check-script.ts';
import { defaultPolicy } from '../../turn-policy.ts';
import { DEFAULT_RETRIES } from '../../../json/read-demand.ts';
import { mostInstancesOf } from '../../isolation.ts';
import { bundleJsonSchema } from './bundle-json-schema.ts';

// The cast is safe: `bundleJsonSchema` returns a schema of draft 7.
const { definitions = {} } = bundleJsonSchema() as SchemaNode;

test('the defaults of a swarm shown in editors are the real ones', () => {
  const { supervision, heartbeat, maxProcesses, maxKept, graceMs, spares, changes } = swarmSettings({});
  const { maxTokensPerTurn: _, requestTimeoutMs: __, queueTimeoutMs: ___, ...turn } = defaultPolicy;
  const { quickCrashes, baseMs, maxMs, healthyMs } = supervision.restart;
  expect(shownDefaults('Swarm')).toEqual(
    dotted({
      policy: {
        ...turn,
        maxProcesses,
        maxKept,
        startTimeoutMs: supervision.startTimeoutMs,
        spares,
        restart: { quickCrashes, baseMs, maxMs, healthyMs },
        idle: { hibernateAfterSeconds: supervision.idle.hibernateAfterSeconds },
        heartbeat: { everyMs: heartbeat.everyMs, missedPings: heartbeat.missedPings },
        shutdown: { gracePeriodSeconds: graceMs / 1000 },
        changes: { approve: changes.approve },
      },
    }),
  );
});

test('an agent has no default limits of turns: the limits of its swarm apply', () => {
  // The defaults of hooks are those of the extension `hooks`, which another test compares.
  const own = Object.entries(shownDefaults('Agent')).filter(([name]) => !name.startsWith('hooks[].'));
  expect(Object.fromEntries(own)).toEqual({
    isolation: 'instance',
    maxInstances: String(mostInstancesOf({ isolation: 'agent' })),
    'output.retries': String(DEFAULT_RETRIES),
  });
});

test('the defaults of models shown in editors are the real ones', () => {
  const { stream, deadlines, cache } = readProviderOptions({}, 'front', 'x');
  const script = checkScript({ script: [{ fail: { message: 'no' } }] });
  const [rule] = script.rules;
  const fail = rule?.action.type === 'fail' ? rule.action : undefined;
  expect(shownDefaults('ModelSpec')).toEqual({
    ...dotted({ options: { stream, cache, timeouts: { ...deadlines } } }),
    ...dotted({ options: { latencyMs: script.latencyMs, tokensPerSecond: script.tokensPerSecond } }),
    'options.script[].fail.retryable': String(fail?.retryable),
    'options.script[].fail.code': String(fail?.code),
  });
  const { signal } = new AbortController();
  const options = toCallOptions(
    { messages: [], tools: [], params: {}, signal, turnId: 'turn', onDelta: () => undefined },
    { providerOptions: undefined, systemMessages: 'front', cache },
    { modelId: 'x', params: {}, memo: new WeakMap() },
    signal,
  );
  expect(options).not.toHaveProperty('maxOutputTokens');
  expect(shownDefaults('ModelParams')).toEqual({});
});

/** Returns the defaults of a kind, by the path of the field below `spec`. */
function shownDefaults(name: string): Record<string, string> {
  const { properties = {} } = definitions[name] ?? {};
  const { spec = definitions[name] ?? {} } = properties;
  const fields = (spec.oneOf ?? [spec]).flatMap((form) => listFields(form));
  return Object.fromEntries(
    fields.flatMap(({ path, byDefault }) => (byDefault === undefined ? [] : [[path, byDefault]])),
  );
}

function dotted(value: object, before = ''): Record<string, string> {
  return Object.assign(
    {},
    ...Object.entries(value).map(([key, inner]) =>
      typeof inner === 'object' ? dotted(inner, `${before}${key}.`) : { [`${before}${key}`]: String(inner) },
    ),
  );
}
