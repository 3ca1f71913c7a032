/**
 * Converts the log of an interrupted turn to the form that a recording stores, and back. Finished steps do not run
 * again, so their effects are left out.
 */
import type { MessageEvent } from '@goondan/types';
import type { ResumePoint, ResumedStep } from '../../trace/resume-point.ts';
import type { TurnLog } from './turn-log.ts';

export function toResumePoint(log: TurnLog): ResumePoint {
  const { events, inputId, taken, effects, intents, steps, usage, restorePoint, plan, movedFrom } = log;
  const nextStep = (steps.at(-1)?.stepIndex ?? -1) + 1;
  // The key of an effect begins with the index of its step, or with the name of a part of the turn chain.
  const isOver = (key: string) => Number.parseInt(key, 10) < nextStep;
  return {
    events: events.length,
    ...(inputId === undefined ? {} : { inputId }),
    ...(taken.length === 0 ? {} : { taken }),
    effects: Object.fromEntries([...effects].filter(([key]) => !isOver(key))),
    intents: [...intents].filter((key) => !isOver(key)),
    nextStep,
    usage,
    ...(plan === undefined ? {} : { plan }),
    ...(movedFrom === undefined ? {} : { movedFrom }),
    steps: steps.map(
      ({ type: _type, survivors: _survivors, metadata: _metadata, extensionState: _state, ...step }): ResumedStep =>
        step,
    ),
    ...(restorePoint && {
      restored: { metadata: { ...restorePoint.metadata }, extensionState: { ...restorePoint.extensionState } },
    }),
  };
}

/** Builds the log from a resume point. `events`: the message events that count. */
export function fromResumePoint(
  { inputId, taken = [], effects, intents, steps, usage, restored, plan, movedFrom }: ResumePoint,
  events: readonly MessageEvent[],
): TurnLog {
  return {
    events,
    inputId,
    taken,
    effects: new Map(Object.entries(effects)),
    intents: new Set(intents),
    // Only the metadata and states of the last step are needed, and `restorePoint` has them.
    steps: steps.map((step) => ({ type: 'step', ...step, metadata: {}, extensionState: {} })),
    usage,
    restorePoint: restored && { metadata: { ...restored.metadata }, extensionState: { ...restored.extensionState } },
    // This count only decides whether a turn may run again. The recorded turn did run, so 0 is right.
    resumes: 0,
    ...(plan === undefined ? {} : { plan }),
    ...(movedFrom === undefined ? {} : { movedFrom }),
  };
}
