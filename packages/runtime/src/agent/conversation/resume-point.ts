/**
 * Converts the log of an interrupted turn to the form that a recording keeps, and back. Finished steps do not run
 * again, so their effects are left out.
 */
import type { JsonObject, MessageEvent } from '@goondan/types';
import type { ResumePoint, ResumedStep } from '../../trace/resume-point.ts';
import type { TurnLog } from './turn-log.ts';

export function toResumePoint({ events, inputId, effects, intents, steps, restorePoint }: TurnLog): ResumePoint {
  const nextStep = (steps.at(-1)?.stepIndex ?? -1) + 1;
  // The first part of a key is the step's index, or the name of a part of the turn's own chain.
  const isOver = (key: string) => Number.parseInt(key, 10) < nextStep;
  return {
    events: events.length,
    ...(inputId === undefined ? {} : { inputId }),
    effects: Object.fromEntries([...effects].filter(([key]) => !isOver(key))),
    intents: [...intents].filter((key) => !isOver(key)),
    nextStep,
    steps: steps.map(({ type: _type, metadata: _metadata, extensionState: _state, ...step }): ResumedStep => step),
    ...(restorePoint && {
      restored: { metadata: { ...restorePoint.metadata }, extensionState: statesOf(restorePoint) },
    }),
  };
}

/** Builds the log from a resume point. `events`: the message events that counted. */
export function fromResumePoint(
  { inputId, effects, intents, steps, restored }: ResumePoint,
  events: readonly MessageEvent[],
): TurnLog {
  return {
    events,
    inputId,
    effects: new Map(Object.entries(effects)),
    intents: new Set(intents),
    // Only the last step's metadata and states are needed, and `restorePoint` has them.
    steps: steps.map((step) => ({ type: 'step', ...step, metadata: {}, extensionState: {} })),
    restorePoint: restored && { metadata: { ...restored.metadata }, extensionState: { ...restored.extensionState } },
    // The number of crashes only decides whether a turn may run again, and the recorded turn did.
    resumes: 0,
  };
}

function statesOf({ extensionState }: NonNullable<TurnLog['restorePoint']>): JsonObject {
  return { ...extensionState };
}
