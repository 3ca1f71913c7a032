import { describe, expect, test } from 'bun:test';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { DeclaredExtension } from '../../config/declared-extension.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { reconcileAgent } from '../../config/reconcile-agent.ts';
import { madeRecord } from '../../testing/made-trace.ts';
import type { Recording } from '../../trace/recording.ts';
import { findMissingPlans, planOfRun, planVersions } from './plan-versions.ts';

function extension(name: string, root: string, digest = '1'): DeclaredExtension {
  const spec = { entry: `./${name}.ts` };
  const resource = { apiVersion: 'goondan.ai/v1', kind: 'Extension', metadata: { name }, spec } as const;
  return { resource, root, digest, files: [`${name}.ts`] };
}

function version(folder: string, ...extensions: DeclaredExtension[]): SwarmPlan {
  const models = { 'Model/m': { provider: 'scripted', model: 'm' } };
  const agent: DeclaredAgent = { agentName: 'a', models, bundleFolder: folder, workdir: folder, extensions };
  return { name: 'default', agents: [agent] };
}

const now = version('/now', extension('kept', '/now'), extension('other', '/now', '2'));
const before = version('/before', extension('other', '/before'), extension('kept', '/before'));
const versions = planVersions([now, before], 'a');
const [first = '', second = ''] = [...versions.byDigest.keys()];

function recording(turnPlan: string, ...steps: string[]): Recording {
  const inside = steps.map((plan, index) => madeRecord('step', String(index), { plan }));
  const event = {
    id: 'e',
    type: 't',
    instanceKey: 'k',
    source: { kind: 'cli', name: 'x' },
    traceId: 't',
    createdAt: '',
  };
  const chain = madeRecord('turn', 'a', { plan: turnPlan, inside });
  return { turnId: 't', event, extensions: [], startedAt: '', chain, effects: [] } as Recording;
}

describe('the plans of a replay', () => {
  test('L-01 are known by their digest, which is the same in another folder', () => {
    expect(versions.byDigest.size).toBe(2);
    expect(versions.current).toBe(second);
    const copy = version('/copy', extension('kept', '/copy'), extension('other', '/copy', '2'));
    expect(planVersions([copy], 'a').current).toBe(versions.current ?? '');
    expect(planVersions([now], 'unknown').byDigest.size).toBe(0);
  });

  test('L-01 a plan that is not there is named, with its steps', () => {
    const uses = [
      { plan: first, turnLayers: true as const, steps: [0] },
      { plan: 'f'.repeat(64), steps: [1, 2] },
    ];
    expect(findMissingPlans(uses.slice(0, 1), versions)).toBeUndefined();
    expect(findMissingPlans(uses, versions)).toBe(
      `it ran steps 1 and 2 with plan ffffffff, which cannot be loaded; the bundle now has plan ${second.slice(0, 8)}`,
    );
  });

  test('L-01 a run begins with the plan of its turn layers and changes at the recorded steps', () => {
    const run = planOfRun(recording(first, first, second, second, first), versions);
    expect(run?.agent.bundleFolder).toBe('/before');
    expect(run?.changes.map(({ fromStep }) => fromStep)).toEqual([1, 3]);
    expect(planOfRun(recording(first, second), versions)?.changes.map(({ fromStep }) => fromStep)).toEqual([0]);
    expect(planOfRun(recording('unknown', 'unknown'), versions)).toBeUndefined();
  });

  test('L-01 a part that is the same in both versions of the bundle is retained', () => {
    const run = planOfRun(recording(first, first, second, first), versions) ?? expect.unreachable();
    const [to, back] = run.changes;
    expect(reconcileAgent(run.agent, to?.agent ?? expect.unreachable())).toEqual({
      parts: [
        { identity: 'Extension/kept', fate: 'retained' },
        { identity: 'Extension/other', fate: 'updated' },
      ],
    });
    expect(reconcileAgent(to?.agent ?? run.agent, back?.agent ?? expect.unreachable())).toEqual({
      parts: [
        { identity: 'Extension/other', fate: 'updated' },
        { identity: 'Extension/kept', fate: 'retained' },
      ],
    });
  });

  test('L-01 a part is compared with the plan before it, not only with the first one', () => {
    const later = version('/later', extension('other', '/later', '2'), extension('new', '/later'));
    const all = planVersions([later, now, before], 'a');
    const digests = [...all.byDigest.keys()];
    const run = planOfRun(recording(digests[0] ?? '', digests[1] ?? '', digests[2] ?? ''), all) ?? expect.unreachable();
    const [next, third] = run.changes.map(({ agent }) => agent);
    expect(reconcileAgent(next ?? expect.unreachable(), third ?? expect.unreachable()).parts).toContainEqual({
      identity: 'Extension/other',
      fate: 'retained',
    });
  });
});
