/**
 * The log of an interrupted turn as a recording keeps it, and made again from that. Steps that are over are not run
 * again, so what was answered in them is left out.
 */
import type { JsonObject, MessageEvent } from '@goondan/types';
import type { ResumePoint, ResumedStep } from '../../trace/resume-point.ts';
import type { TurnLog } from './turn-log.ts';

export function toResumePoint({ events, inputId, effects, intents, steps, restorePoint }: TurnLog): ResumePoint {
  const nextStep = (steps.at(-1)?.stepIndex ?? -1) + 1;
  // The first part of a key is the step, or the part of the turn's own chain.
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

/** `events`: those that counted. */
export function fromResumePoint(
  { inputId, effects, intents, steps, restored }: ResumePoint,
  events: readonly MessageEvent[],
): TurnLog {
  return {
    events,
    inputId,
    effects: new Map(Object.entries(effects)),
    intents: new Set(intents),
    // What each step left is in `restorePoint`, of the last one.
    steps: steps.map((step) => ({ type: 'step', ...step, metadata: {}, extensionState: {} })),
    restorePoint: restored && { metadata: { ...restored.metadata }, extensionState: { ...restored.extensionState } },
    // How often it was interrupted decides whether it is run at all, and it was.
    resumes: 0,
  };
}

function statesOf({ extensionState }: NonNullable<TurnLog['restorePoint']>): JsonObject {
  return { ...extensionState };
}
