import type { TurnDelta } from '@goondan/types';
import { type Check, count, name, oneByField, text } from './shape.ts';

export const turnDelta: Check<TurnDelta> = oneByField('type', {
  text: () => ({ text, turnId: name, stepId: name, stepIndex: count }),
  reasoning: () => ({ text, turnId: name, stepId: name, stepIndex: count }),
  discard: () => ({ turnId: name, stepId: name, stepIndex: count }),
} satisfies Record<TurnDelta['type'], unknown>);
