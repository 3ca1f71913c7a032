/** `Swarm.spec.policy` with all defaults, for the parts of the orchestrator that use it. */
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { defaultPolicy, type TurnPolicy } from '../../config/turn-policy.ts';
import { defaultCallLimits } from '../calls/call.ts';
import { defaultHeartbeatPolicy } from '../supervision/heartbeat.ts';
import { defaultSupervisionPolicy } from '../supervision/supervision-policy.ts';

const DEFAULT_PROCESSES = 64;
const DEFAULT_KEPT = 64;
const DEFAULT_GRACE_SECONDS = 30;

export function swarmSettings({ policy = {} }: Pick<SwarmPlan, 'policy'>) {
  const {
    maxProcesses,
    maxKept,
    restart,
    idle,
    heartbeat,
    shutdown: _,
    startTimeoutMs,
    spares,
    changes,
    ...turn
  } = policy;
  const { crashesBeforeDeadLetter = defaultPolicy.crashesBeforeDeadLetter } = turn;
  return {
    supervision: {
      ...defaultSupervisionPolicy,
      restart: { ...defaultSupervisionPolicy.restart, ...restart },
      idle:
        idle?.hibernateAfterSeconds === undefined
          ? defaultSupervisionPolicy.idle
          : { hibernateAfterSeconds: idle.hibernateAfterSeconds ?? undefined },
      crashesBeforeDeadLetter,
      ...(startTimeoutMs === undefined ? {} : { startTimeoutMs }),
    },
    heartbeat: { ...defaultHeartbeatPolicy, ...heartbeat },
    calls: defaultCallLimits,
    maxProcesses: maxProcesses ?? DEFAULT_PROCESSES,
    maxKept: maxKept ?? DEFAULT_KEPT,
    graceMs: gracePeriodMs({ policy }),
    spares: spares ?? 1,
    /** The changes that agents may make; by default none, and each one needs an approval. */
    changes: { allow: changes?.allow ?? [], approve: changes?.approve ?? true },
    /** The swarm's settings for turns; an agent's own policy wins over them. */
    turn,
  };
}

/** Returns the time limits of a callee, from its policy. */
export function calleeTimes({ turnTimeoutMs, queueTimeoutMs }: Partial<TurnPolicy> = {}) {
  const turnMs = turnTimeoutMs ?? defaultPolicy.turnTimeoutMs;
  return { turnTimeoutMs: turnMs, queueTimeoutMs: queueTimeoutMs ?? turnMs };
}

/** Returns the time for running turns to finish when the swarm stops. */
export function gracePeriodMs({ policy }: Pick<SwarmPlan, 'policy'>): number {
  return (policy?.shutdown?.gracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1_000;
}
